package io.github.holdfast;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * One key that a call of this JVM holds or waits for, as it was at one moment.
 *
 * @param name the lock's name
 * @param key the key as the caller gave it
 * @param id the stored id of the lock, prefix included
 * @param mode how the lock is shared
 * @param thread the name of the thread that made the call
 * @param waitTime how long the call has waited for its locks
 * @param holdTime how long it has held all of them, or {@code null} if it waits still
 * @param lease the lease of this key, or {@code null} if the call waits for it
 * @since 0.2.0
 * @see LockTemplate#uses()
 */
public record LockUse(String name, String key, String id, LockRequest.Mode mode, String thread, Duration waitTime,
		@Nullable Duration holdTime, @Nullable LockLease lease) {

}
