/**
 * What two or more parts of Holdfast need: keys, deadlines, queues, polling.
 */
@NullMarked
package io.github.holdfast.support;

import org.jspecify.annotations.NullMarked;
