package io.github.holdfast.event;

import java.time.Duration;

import io.github.holdfast.LockListener.Call;

/**
 * A lock was lost while it was held.
 *
 * @param call the call
 * @param key the key as the caller gave it
 * @param holdTime how long it has been since it was acquired
 * @since 0.2.0
 */
public record LockLostEvent(Call call, String key, Duration holdTime) implements LockEvent {

}
