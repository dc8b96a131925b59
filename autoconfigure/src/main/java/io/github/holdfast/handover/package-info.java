/**
 * The local queue in front of a remote store.
 */
@NullMarked
package io.github.holdfast.handover;

import org.jspecify.annotations.NullMarked;
