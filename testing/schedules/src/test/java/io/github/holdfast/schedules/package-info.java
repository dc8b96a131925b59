/**
 * A scheduler that decides whose turn it is, for tests of threads that meet.
 */
@NullMarked
package io.github.holdfast.schedules;

import org.jspecify.annotations.NullMarked;
