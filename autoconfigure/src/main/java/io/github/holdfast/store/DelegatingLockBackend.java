package io.github.holdfast.store;

import java.time.Duration;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;

/**
 * Adds something to a store, and leaves to it all that is not about taking locks. How
 * they are taken, each layer says for itself, lest one of the ways bypasses it.
 *
 * @since 0.2.0
 */
public abstract class DelegatingLockBackend implements LockBackend {

	/** What this is added to. */
	protected final LockBackend store;

	/**
	 * Create a layer.
	 * @param store what it is added to
	 */
	protected DelegatingLockBackend(LockBackend store) {
		this.store = store;
	}

	@Override
	public @Nullable LockHolder holder(String key) {
		return this.store.holder(key);
	}

	@Override
	public Eviction evict(String key, String owner, long epoch) throws InterruptedException {
		return this.store.evict(key, owner, epoch);
	}

	@Override
	public @Nullable Status probe(String key) {
		return this.store.probe(key);
	}

	@Override
	public boolean serves(LockLease lease, LockRequest request) {
		return this.store.serves(lease, request);
	}

	@Override
	public Duration noticeTime() {
		return this.store.noticeTime();
	}

	@Override
	public Set<Capability> capabilities() {
		return this.store.capabilities();
	}

	@Override
	public String name() {
		return this.store.name();
	}

	@Override
	public String toString() {
		return this.store.toString();
	}

}
