package io.github.holdfast;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.RejectedExecutionException;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Acquires the locks of one call: what is held already is used, the rest is acquired in
 * sorted order within one wait budget, all or none.
 */
final class LockAcquisition {

	private static final Logger logger = LoggerFactory.getLogger(LockTemplate.class);

	private final LockEngine engine;

	private final LockBackend backend;

	private final List<LockListener> listeners;

	private final LockSettings settings;

	private final List<String> keys;

	private final List<LockLease> leases;

	private final List<AcquiredLease> acquired;

	private final Set<LockScope> lenders = new LinkedHashSet<>();

	private final LockRenewal.Call renewal;

	private final long start;

	/** Whether a key was asked for once only, as the application was to stop. */
	private boolean draining;

	LockAcquisition(LockEngine engine, LockBackend backend, List<LockListener> listeners, LockSettings settings,
			Collection<String> keys, long start) {
		this.engine = engine;
		this.backend = backend;
		this.listeners = listeners;
		this.settings = settings;
		this.start = start;
		this.keys = (keys.size() == 1) ? List.copyOf(keys) : List.copyOf(new TreeSet<>(keys));
		this.leases = new ArrayList<>(this.keys.size());
		this.acquired = new ArrayList<>(this.keys.size());
		this.renewal = engine.renewal(backend);
	}

	LockScope run() {
		List<String> missing = missing();
		announce(missing);
		this.engine.scopeBegins();
		try {
			acquireAll(missing);
			checkValid();
		}
		catch (RuntimeException | Error ex) {
			giveBack(ex);
			this.engine.scopeEnded();
			throw ex;
		}
		LockScope scope = new LockScope(this.backend, this.settings, this.keys, this.leases, this.acquired,
				this.lenders, this.listeners, this.engine);
		scope.opened();
		return scope;
	}

	/**
	 * The store may have answered only when the lease was over, or have lost one key
	 * while another one was waited for.
	 */
	private void checkValid() {
		for (AcquiredLease acquired : this.acquired) {
			if (!acquired.lease().isValid()) {
				throw new LockBackendException(acquired.lease().key(),
						"was granted, but its lease was over before the method began", null);
			}
		}
	}

	private void announce(List<String> missing) {
		boolean reentry = missing.isEmpty();
		LockListener.Attempt attempt = new LockListener.Attempt(this.settings.name(), reentry ? this.keys : missing,
				this.settings.mode(), this.settings.propagation(), transactionManager());
		for (LockListener listener : this.listeners) {
			if (reentry) {
				listener.beforeReentry(attempt);
			}
			else {
				listener.beforeAcquire(attempt);
			}
		}
	}

	private @Nullable TransactionManager transactionManager() {
		boolean matters = this.settings.propagation() != null
				&& TransactionSynchronizationManager.isActualTransactionActive();
		return matters ? this.settings.transactionManager().get() : null;
	}

	private List<String> missing() {
		if (HeldLocks.current() == null) {
			return this.keys;
		}
		return this.keys.stream().filter((key) -> !isHeld(key)).toList();
	}

	/**
	 * Whether the call chain holds a key already. A shared lock does not become an
	 * exclusive one, as two holders that wanted that would wait for each other; an
	 * optimistic one would be overtaken by it.
	 */
	private boolean isHeld(String key) {
		LockScope holder = HeldLocks.holder(this.backend, storedKey(key));
		if (holder != null && !holder.covers(this.settings.mode())) {
			throw new IllegalStateException(
					"Lock " + LockException.quote(key) + " is held " + holder.mode().name().toLowerCase(Locale.ROOT)
							+ " by lock '" + holder.name() + "' of the same call chain and cannot become "
							+ this.settings.mode().name().toLowerCase(Locale.ROOT)
							+ ". Take it so from the beginning, or after the other one has ended");
		}
		return holder != null;
	}

	/**
	 * The missing keys are in the order of all keys.
	 */
	private void acquireAll(List<String> missing) {
		List<LockLease> atOnce = (missing.size() > 1) ? acquireAtOnce(missing) : null;
		int next = 0;
		for (String key : this.keys) {
			boolean isMissing = next < missing.size() && missing.get(next).equals(key);
			LockScope holder = isMissing ? null : HeldLocks.holder(this.backend, storedKey(key));
			LockLease held = (holder != null) ? holder.lease(this.backend, storedKey(key)) : null;
			if (held != null) {
				this.leases.add(held);
				this.lenders.add(holder);
			}
			else {
				this.leases.add((atOnce != null) ? atOnce.get(next) : acquire(key));
				next++;
			}
		}
	}

	/**
	 * Several free keys may take one round trip.
	 */
	private @Nullable List<LockLease> acquireAtOnce(List<String> missing) {
		if (this.engine.isDraining()) {
			return null;
		}
		List<LockLease> leases = this.backend.acquireAll(missing.stream().map(this::request).toList());
		if (leases == null) {
			return null;
		}
		for (int i = 0; i < leases.size(); i++) {
			this.acquired.add(this.engine.acquired(missing.get(i), leases.get(i), this.settings, this.renewal));
		}
		this.acquired.forEach(AcquiredLease::keepRenewed);
		if (this.engine.isClosed()) {
			throw notAcquired(missing.get(0), LockNotAcquiredException.Reason.SHUTDOWN, null, null);
		}
		logger.debug("{} locks acquired at once", leases.size());
		return leases;
	}

	private LockRequest request(String key) {
		return this.settings.request(storedKey(key), remainingWait(), this.engine.nextOwner(), LockOwner.holder());
	}

	private LockLease acquire(String key) {
		LockLease lease = null;
		InterruptedException interrupt = null;
		LockWaits.Wait wait = this.engine.beginWait();
		boolean shutdown;
		try {
			if (!this.engine.isClosed()) {
				lease = acquireStored(key);
			}
		}
		catch (InterruptedException ex) {
			interrupt = ex;
		}
		catch (RejectedExecutionException ex) {
			throw notAcquired(key, LockNotAcquiredException.Reason.QUEUE_FULL, null, ex);
		}
		finally {
			shutdown = wait.end();
		}
		if (interrupt != null && !shutdown) {
			Thread.currentThread().interrupt();
		}
		if (this.engine.isClosed() || (lease == null && (shutdown || this.draining || this.engine.isDraining()))) {
			throw notAcquired(key, LockNotAcquiredException.Reason.SHUTDOWN, null, interrupt);
		}
		if (interrupt != null) {
			throw notAcquired(key, LockNotAcquiredException.Reason.INTERRUPTED, null, interrupt);
		}
		if (lease == null) {
			throw notAcquired(key, LockNotAcquiredException.Reason.BUSY, this.backend.holder(storedKey(key)), null);
		}
		if (logger.isDebugEnabled() && this.settings.mode() != LockRequest.Mode.OPTIMISTIC) {
			logger.debug("Lock {} acquired with token {}", LockException.quote(key), lease.token());
		}
		return lease;
	}

	private @Nullable LockLease acquireStored(String key) throws InterruptedException {
		List<LockLease> held = held();
		LockLease lease = held.isEmpty() ? this.backend.acquire(request(key))
				: this.backend.acquire(request(key), held);
		if (lease != null) {
			AcquiredLease acquired = this.engine.acquired(key, lease, this.settings, this.renewal);
			this.acquired.add(acquired);
			acquired.keepRenewed();
		}
		return lease;
	}

	private List<LockLease> held() {
		LockScope outer = HeldLocks.current();
		if (outer == null) {
			return this.leases;
		}
		List<LockLease> held = new ArrayList<>(this.leases);
		for (LockScope scope = outer; scope != null; scope = scope.outer()) {
			held.addAll(scope.leases());
		}
		return held;
	}

	private void giveBack(Throwable cause) {
		for (int i = this.acquired.size() - 1; i >= 0; i--) {
			try {
				AcquiredLease lease = this.acquired.get(i);
				if (!lease.passOn()) {
					lease.release().toCompletableFuture().join();
				}
			}
			catch (RuntimeException | Error ex) {
				cause.addSuppressed(ex);
			}
		}
	}

	/**
	 * Asked after the wait has been noted, so that no waiter misses the shutdown.
	 */
	private Duration remainingWait() {
		if (this.engine.isDraining()) {
			this.draining = true;
			return Duration.ZERO;
		}
		Duration remaining = this.settings.waitTime().minusNanos(System.nanoTime() - this.start);
		return remaining.isNegative() ? Duration.ZERO : remaining;
	}

	private String storedKey(String key) {
		return this.settings.keyPrefix() + key;
	}

	private LockNotAcquiredException notAcquired(String key, LockNotAcquiredException.Reason reason,
			@Nullable String holder, @Nullable Exception cause) {
		return new LockNotAcquiredException(key, reason, this.settings.waitTime(), holder, cause);
	}

}
