package io.github.holdfast.autoconfigure;

import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.store.DelegatingLockBackend;

/**
 * Gives a backend the name that it has in this application.
 */
final class NamedLockBackend extends DelegatingLockBackend {

	private final String name;

	NamedLockBackend(LockBackend backend, String name) {
		super(backend);
		this.name = name;
	}

	@Override
	public @Nullable LockLease acquire(LockRequest request) throws InterruptedException {
		return this.store.acquire(request);
	}

	@Override
	public @Nullable List<LockLease> acquireAll(List<LockRequest> sorted) {
		return this.store.acquireAll(sorted);
	}

	@Override
	public String name() {
		return this.name;
	}

	@Override
	public String toString() {
		return "'" + this.name + "', which is " + this.store + ",";
	}

}
