package io.github.holdfast.test;

import java.util.Set;
import java.util.UUID;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockRequest;
import io.github.holdfast.store.local.LocalLockBackend;
import org.jspecify.annotations.Nullable;

/** Locks in memory that fail on demand. Each instance has its own locks. */
final class TestLockBackend implements LockBackend {

	private final LocalLockBackend store = new LocalLockBackend();

	private final String space = UUID.randomUUID() + " ";

	volatile boolean down;

	@Override
	public @Nullable Lease acquire(LockRequest request) throws InterruptedException {
		if (this.down) {
			throw new LockBackendException(request.key(), "the test has taken the store down", null);
		}
		return this.store.acquire(new LockRequest(this.space + request.key(), request.name(), request.mode(),
				request.fair(), request.waitTime(), request.leaseTime(), request.owner()));
	}

	@Override
	public @Nullable LockHolder holder(String key) {
		return this.store.holder(this.space + key);
	}

	@Override
	public Set<Capability> capabilities() {
		return this.store.capabilities();
	}

	void takeAway(String key) {
		this.store.forceRelease(this.space + key);
	}

}
