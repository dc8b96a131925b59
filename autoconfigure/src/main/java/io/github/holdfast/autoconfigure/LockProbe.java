package io.github.holdfast.autoconfigure;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.ExecutionException;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.core.LockConfigurationException;

/**
 * Tries out whether a store can keep locks, at the start or whenever it is asked.
 */
final class LockProbe {

	private final LockBackend backend;

	private final Duration waitTime;

	private final LockProperties properties;

	private final Diagnosis diagnosis;

	/**
	 * Create a probe.
	 * @param backend the store
	 * @param waitTime how long its client may take to say what is wrong
	 * @param properties the prefix and the lease time of the locks
	 * @param diagnosis explains the failures of the store
	 */
	LockProbe(LockBackend backend, Duration waitTime, LockProperties properties, Diagnosis diagnosis) {
		this.backend = backend;
		this.waitTime = waitTime;
		this.properties = properties;
		this.diagnosis = diagnosis;
	}

	/**
	 * Take and release a lock, which needs all that the locks of the application need,
	 * and leaves them alone.
	 * @throws LockConfigurationException if that is not possible
	 */
	void takeLock() {
		LockRequest request = new LockRequest(this.properties.getKeyPrefix() + "holdfast:start", "start",
				LockRequest.Mode.EXCLUSIVE, false, this.waitTime, this.properties.getLeaseTime(),
				UUID.randomUUID().toString(), "the check at the start", 0);
		try {
			LockLease lease = this.backend.acquire(request);
			if (lease != null) {
				lease.release().toCompletableFuture().get();
			}
			new LockFormatCheck(this.backend, this.properties).check();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (ExecutionException | LockBackendException ex) {
			throw this.diagnosis.of(ex);
		}
	}

	/**
	 * What the store or the network says: clients wrap it, and sockets do not name the
	 * server.
	 */
	static String reason(Throwable failure) {
		String reason = String.valueOf(failure.getMessage());
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			String message = cause.getMessage();
			if (message != null && !reason.contains(message)) {
				reason = message;
			}
		}
		return reason;
	}

	/**
	 * Tells what is wrong with a store, and what to do about it.
	 */
	@FunctionalInterface
	interface Diagnosis {

		LockConfigurationException of(Exception failure);

	}

}
