package io.github.holdfast.event;

import java.time.Duration;

import io.github.holdfast.LockListener.Call;
import io.github.holdfast.LockListener.Outcome;

/**
 * The locks of a call have ended.
 *
 * @param call the call
 * @param outcome how, the worst of all keys
 * @param holdTime how long they were held
 * @since 0.2.0
 */
public record LockReleasedEvent(Call call, Outcome outcome, Duration holdTime) implements LockEvent {

}
