package io.github.holdfast.event;

import io.github.holdfast.LockListener.Call;

/**
 * Something that has become of a locked call, for {@code @EventListener} methods. It is
 * published on the thread of the call unless its {@code LockListener} method says
 * otherwise, and only if there is a listener for it. What a listener throws is logged.
 *
 * @since 0.2.0
 */
public sealed interface LockEvent
		permits LockAcquiredEvent, LockNotAcquiredEvent, LockReleasedEvent, LockLostEvent, LockStoreFailedEvent {

	/**
	 * The call.
	 * @return the call
	 */
	Call call();

}
