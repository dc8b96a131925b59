/**
 * The call: {@link io.github.holdfast.core.LockManager manager},
 * {@link io.github.holdfast.core.LockCall call}, queue, grant and watchdog.
 */
@NullMarked
package io.github.holdfast.core;

import org.jspecify.annotations.NullMarked;
