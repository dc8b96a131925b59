package io.github.holdfast;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * One key that a call of this JVM holds or waits for at one moment.
 *
 * @param name the lock's name
 * @param key the key as the caller gave it
 * @param mode how the lock is shared
 * @param thread the name of the thread that made the call
 * @param waitTime how long the call has waited for its locks
 * @param holdTime how long it has held all of them, or {@code null} if it still waits
 * @param remaining how long this process can still prove that it holds the key, or
 * {@code null} if it is still waiting or the lock does not expire
 */
public record LockSnapshot(String name, String key, LockMode mode, String thread, Duration waitTime,
		@Nullable Duration holdTime, @Nullable Duration remaining) {

}
