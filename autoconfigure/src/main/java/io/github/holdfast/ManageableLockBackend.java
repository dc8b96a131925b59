package io.github.holdfast;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * A store that an operator can inspect, through the health indicator and the endpoint
 * {@code locks}.
 */
public interface ManageableLockBackend extends LockBackend {

	/**
	 * Takes a lease away from its holder. At {@code holdfast.commit-guard: fence}, the
	 * holder's transactions cannot commit under it afterwards, if {@link #holder} reports
	 * the epoch.
	 * @param key the stored key
	 * @return whether there was a lease
	 * @throws LockBackendException if the store failed
	 */
	boolean forceRelease(String key);

	/**
	 * Asks the store for a sign of life.
	 * @return what answered
	 * @throws LockBackendException if the store failed or did not answer
	 */
	Status ping();

	/**
	 * What answered a {@link #ping()}.
	 *
	 * @param topology what the store is, such as its product, version and number of nodes
	 * @param time the clock of the store, or {@code null} if it does not report one
	 */
	record Status(String topology, @Nullable Instant time) {

	}

}
