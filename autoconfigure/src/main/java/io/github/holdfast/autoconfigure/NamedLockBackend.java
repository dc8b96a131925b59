package io.github.holdfast.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;

/**
 * Gives a backend the name that it has in this application.
 */
final class NamedLockBackend implements LockBackend {

	private final LockBackend backend;

	private final String name;

	NamedLockBackend(LockBackend backend, String name) {
		this.backend = backend;
		this.name = name;
	}

	@Override
	public @Nullable LockLease acquire(LockRequest request) throws InterruptedException {
		return this.backend.acquire(request);
	}

	@Override
	public @Nullable LockLease acquire(LockRequest request, List<LockLease> held) throws InterruptedException {
		return this.backend.acquire(request, held);
	}

	@Override
	public @Nullable List<LockLease> acquireAll(List<LockRequest> sorted) {
		return this.backend.acquireAll(sorted);
	}

	@Override
	public List<CompletionStage<Boolean>> renewAll(List<LockLease> leases, Duration leaseTime) {
		return this.backend.renewAll(leases, leaseTime);
	}

	@Override
	public int renewedTogether() {
		return this.backend.renewedTogether();
	}

	@Override
	public @Nullable LockHolder holder(String key) {
		return this.backend.holder(key);
	}

	@Override
	public Eviction evict(String key, String owner, long epoch) throws InterruptedException {
		return this.backend.evict(key, owner, epoch);
	}

	@Override
	public @Nullable Status probe(String key) {
		return this.backend.probe(key);
	}

	@Override
	public boolean serves(LockLease lease, LockRequest request) {
		return this.backend.serves(lease, request);
	}

	@Override
	public Duration noticeTime() {
		return this.backend.noticeTime();
	}

	@Override
	public String name() {
		return this.name;
	}

	@Override
	public Set<Capability> capabilities() {
		return this.backend.capabilities();
	}

	@Override
	public String toString() {
		return "'" + this.name + "', which is " + this.backend + ",";
	}

}
