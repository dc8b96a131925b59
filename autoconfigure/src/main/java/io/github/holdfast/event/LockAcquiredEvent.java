package io.github.holdfast.event;

import java.time.Duration;

import io.github.holdfast.LockListener.Call;

/**
 * A call holds its locks.
 *
 * @param call the call
 * @param waitTime how long it has waited
 * @since 0.2.0
 */
public record LockAcquiredEvent(Call call, Duration waitTime) implements LockEvent {

}
