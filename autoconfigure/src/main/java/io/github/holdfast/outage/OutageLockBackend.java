package io.github.holdfast.outage;

import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.support.DelegatingLockBackend;

/**
 * Lets calls fail at once while a store is down, instead of each waiting for its
 * time-out.
 *
 * <p>
 * One failure is no outage: it may be that of one key, of one server of several, or of a
 * connection. It makes the store be probed, beside the calls. If the probe fails as well,
 * calls are refused with a {@link LockBackendException} until a later probe succeeds.
 * What is held is renewed and released as ever, and nothing is reported as busy.
 *
 * <p>
 * Belongs right above the store. Safe for use by many threads.
 *
 * @since 0.2.0
 */
public final class OutageLockBackend extends DelegatingLockBackend implements AutoCloseable {

	private final StoreWatch watch;

	/**
	 * Watch a store.
	 * @param store the store
	 */
	public OutageLockBackend(LockBackend store) {
		super(store);
		this.watch = new StoreWatch(store);
	}

	@Override
	public @Nullable LockLease acquire(LockRequest request) throws InterruptedException {
		this.watch.check(request.key());
		try {
			LockLease lease = this.store.acquire(request);
			this.watch.answered();
			return lease;
		}
		catch (LockBackendException ex) {
			this.watch.failed(request.key(), ex);
			throw ex;
		}
	}

	@Override
	public @Nullable LockLease acquire(LockRequest request, List<LockLease> held) throws InterruptedException {
		this.watch.check(request.key());
		try {
			LockLease lease = this.store.acquire(request, held);
			this.watch.answered();
			return lease;
		}
		catch (LockBackendException ex) {
			this.watch.failed(request.key(), ex);
			throw ex;
		}
	}

	@Override
	public @Nullable List<LockLease> acquireAll(List<LockRequest> sorted) {
		String key = sorted.get(0).key();
		this.watch.check(key);
		try {
			List<LockLease> leases = this.store.acquireAll(sorted);
			if (leases != null) {
				// Otherwise the store may not even have been asked
				this.watch.answered();
			}
			return leases;
		}
		catch (LockBackendException ex) {
			this.watch.failed(key, ex);
			throw ex;
		}
	}

	@Override
	public @Nullable LockHolder holder(String key) {
		return this.watch.isDown() ? null : this.store.holder(key);
	}

	/**
	 * While the store is down, what the last probe said.
	 */
	@Override
	public @Nullable Status probe(String key) {
		this.watch.check(key);
		try {
			return this.store.probe(key);
		}
		catch (LockBackendException ex) {
			this.watch.failed(key, ex);
			throw ex;
		}
	}

	/**
	 * Ends the probes, and what the store still does by itself.
	 */
	@Override
	public void close() {
		this.watch.close();
		if (this.store instanceof AutoCloseable closeable) {
			try {
				closeable.close();
			}
			catch (Exception ex) {
				throw new IllegalStateException("The " + this.store + " could not be closed", ex);
			}
		}
	}

}
