package io.github.holdfast.actuate;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.actuate.LocksEndpoint.EvictionDescriptor.Outcome;

/**
 * An operator has tried to take a lock away from its holder. Published as an event of the
 * application context.
 *
 * @param key the key as it is in the application
 * @param owner the owner who was named
 * @param epoch the epoch that was named
 * @param outcome what became of it
 * @param principal who tried, if that is known
 * @since 0.2.0
 */
public record LockEvictionEvent(String key, String owner, long epoch, Outcome outcome, @Nullable String principal) {

}
