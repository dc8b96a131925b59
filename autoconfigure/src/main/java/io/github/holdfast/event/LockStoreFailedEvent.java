package io.github.holdfast.event;

import io.github.holdfast.LockListener.Call;
import io.github.holdfast.LockListener.Operation;

/**
 * The store has failed or did not answer.
 *
 * @param call the call
 * @param operation what it was asked for
 * @param failure how it failed
 * @since 0.2.0
 */
public record LockStoreFailedEvent(Call call, Operation operation, Throwable failure) implements LockEvent {

}
