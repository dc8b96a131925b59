package io.github.holdfast.event;

import java.time.Duration;

import io.github.holdfast.LockListener.Call;
import io.github.holdfast.LockListener.Reason;

/**
 * A call did not get its locks.
 *
 * @param call the call
 * @param reason why
 * @param waitTime how long it has waited
 * @param cause what the caller gets
 * @since 0.2.0
 */
public record LockNotAcquiredEvent(Call call, Reason reason, Duration waitTime, Throwable cause) implements LockEvent {

}
