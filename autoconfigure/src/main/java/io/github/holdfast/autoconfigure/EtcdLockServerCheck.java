package io.github.holdfast.autoconfigure;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.ExecutionException;

import org.springframework.beans.factory.SmartInitializingSingleton;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.support.LockConfigurationException;

/**
 * Fails the start when no lock can be taken in etcd.
 */
class EtcdLockServerCheck implements SmartInitializingSingleton {

	/** A cluster that elects its leader must not fail the start. */
	private static final Duration PATIENCE = Duration.ofSeconds(5);

	private final LockBackend backend;

	private final LockProperties properties;

	EtcdLockServerCheck(LockBackend backend, LockProperties properties) {
		this.backend = backend;
		this.properties = properties;
	}

	@Override
	public void afterSingletonsInstantiated() {
		LockRequest request = new LockRequest(this.properties.getKeyPrefix() + "holdfast:start", "start",
				LockRequest.Mode.EXCLUSIVE, false, PATIENCE, this.properties.getLeaseTime(),
				UUID.randomUUID().toString(), "the check at the start", 0);
		try {
			LockLease lease = this.backend.acquire(request);
			if (lease != null) {
				lease.release().toCompletableFuture().get();
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (ExecutionException | LockBackendException ex) {
			throw failure(reason(ex), ex);
		}
	}

	private static LockConfigurationException failure(String reason, Exception cause) {
		String found = "The etcd of the lock backend 'etcd' ";
		if (reason.contains("permission denied")) {
			return new LockConfigurationException(found + "refused its user: " + reason + ".",
					"Give the user a role that may read and write all keys that begin with 'holdfast.etcd.namespace'.",
					cause);
		}
		if (reason.contains("authentication failed") || reason.contains("user name is empty")) {
			return new LockConfigurationException(found + "did not accept its user: " + reason + ".",
					"Check 'holdfast.etcd.username' and 'holdfast.etcd.password'.", cause);
		}
		if (reason.contains("database space exceeded")) {
			return new LockConfigurationException(found + "has no space left: " + reason + ".",
					"Compact and defragment etcd, disarm its alarm, and raise its '--quota-backend-bytes'.", cause);
		}
		return new LockConfigurationException(found + "could not be used: " + reason + ".",
				"Check 'holdfast.etcd', or the Client bean of the application, and that etcd 3.4 or later is running.",
				cause);
	}

	/**
	 * What etcd or the network says: clients wrap it.
	 */
	private static String reason(Throwable failure) {
		String reason = String.valueOf(failure.getMessage());
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			String message = cause.getMessage();
			if (message != null && !reason.contains(message)) {
				reason = message;
			}
		}
		return reason;
	}

}
