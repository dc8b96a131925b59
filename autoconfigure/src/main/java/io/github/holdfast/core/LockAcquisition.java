package io.github.holdfast.core;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.RejectedExecutionException;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockException;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockRequest;

/**
 * Acquires the locks of one call: what is held already is used, the rest is acquired in
 * sorted order within one wait budget, all or none.
 */
final class LockAcquisition {

	private static final Logger logger = Loggers.TEMPLATE;

	private final LockEngine engine;

	private final LockBackend backend;

	private final LockRenewal renewal;

	private final LockSpec spec;

	private final List<String> keys;

	private final List<LockLease> leases;

	private final List<HeldLease> acquired;

	private Set<LockCall> lenders = Set.of();

	private final Commits commits;

	private final long start;

	private OpenCalls.@Nullable Entry open;

	/**
	 * Create an acquisition.
	 * @param mayClaim whether the body's transaction may claim the locks
	 * @param start when the wait time has begun
	 */
	LockAcquisition(LockEngine engine, KnownBackend backend, LockSpec spec, Collection<String> keys, boolean mayClaim,
			long start) {
		this.engine = engine;
		this.backend = backend.backend();
		this.renewal = backend.renewal();
		this.spec = spec;
		this.start = start;
		this.keys = (keys.size() == 1) ? List.copyOf(keys) : List.copyOf(new TreeSet<>(keys));
		this.leases = new ArrayList<>(this.keys.size());
		this.acquired = new ArrayList<>(this.keys.size());
		this.commits = Commits.of(spec.body(),
				mayClaim && spec.mode() == LockRequest.Mode.EXCLUSIVE && spec.times().areForTheBody()
						&& isNothingBound() && engine.rules().stream().allMatch(LockRule::allowsClaims));
	}

	/**
	 * Not with a session that the body would find on the thread: if the claim was
	 * refused, the rollback would clear it.
	 */
	private boolean isNothingBound() {
		Map<Object, Object> resources = TransactionSynchronizationManager.getResourceMap();
		return resources.isEmpty() || resources.values()
			.stream()
			.allMatch((bound) -> this.engine.rules().stream().anyMatch((rule) -> rule.replaces(bound)));
	}

	/**
	 * Acquire the locks.
	 * @param begun the events of an acquisition that this one goes on with, or
	 * {@code null}
	 */
	LockCall run(@Nullable LockEvents begun) {
		List<String> missing = missing();
		announce(missing);
		LockEvents events = (begun != null) ? begun : LockEvents.of(this.spec, missing, this.backend.name(),
				this.engine.listeners(), this.engine.listenerThread());
		this.engine.callBegins();
		this.open = missing.isEmpty() ? null : this.engine.openCalls().begin(this.spec, this.start);
		try {
			if (!missing.isEmpty() && begun == null) {
				events.attempted();
			}
			acquireAndCheck(missing, events);
		}
		catch (Throwable ex) {
			giveBack(ex);
			if (!missing.isEmpty()) {
				events.notAcquired(ex);
			}
			ended();
			throw ex;
		}
		LockCall call = new LockCall(this.backend, this.spec, this.keys, this.leases, this.acquired, this.lenders,
				this.commits, this.engine.rules(), events, this::ended);
		call.open();
		if (this.open != null) {
			this.open.holds(call);
		}
		return call;
	}

	private void ended() {
		if (this.open != null) {
			this.open.end();
		}
		this.engine.callEnded();
	}

	private void acquireAndCheck(List<String> missing, LockEvents events) {
		try {
			acquireAll(missing, events);
			checkValid();
		}
		catch (LockBackendException ex) {
			throw ex.withKey(this.spec.callersKey(ex.key()));
		}
	}

	/**
	 * The store may have answered only when the lease was over, or have lost one key
	 * while another one was waited for.
	 */
	private void checkValid() {
		for (HeldLease acquired : this.acquired) {
			if (!acquired.lease().isValid()) {
				throw new LockBackendException(acquired.lease().key(),
						"was granted, but its lease was over before the method began", null);
			}
		}
	}

	private void announce(List<String> missing) {
		if (missing.size() < this.keys.size()) {
			LockRule.Attempt reentry = attempt(this.keys.stream().filter((key) -> !missing.contains(key)).toList());
			this.engine.rules().forEach((rule) -> rule.beforeReentry(reentry));
		}
		if (!missing.isEmpty()) {
			LockRule.Attempt attempt = attempt(missing);
			for (LockRule rule : this.engine.rules()) {
				rule.beforeAcquire(attempt);
			}
		}
	}

	private LockRule.Attempt attempt(List<String> keys) {
		return new LockRule.Attempt(this.spec.name(), keys, this.spec.mode(), this.spec.body().propagation(),
				this.spec.body().transactionManager());
	}

	private List<String> missing() {
		if (LockStack.current() == null) {
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
		LockCall holder = LockCall.holding(this.backend, this.spec.storedKey(key));
		if (holder != null && !holder.covers(this.spec.mode())) {
			throw new IllegalStateException("Lock " + LockException.quote(key) + " is held "
					+ holder.mode().name().toLowerCase(Locale.ROOT) + " by lock '" + holder.name()
					+ "' of the same call chain and cannot become " + this.spec.mode().name().toLowerCase(Locale.ROOT)
					+ ". Take it so from the beginning, or after the other one has ended");
		}
		return holder != null;
	}

	/**
	 * The missing keys are in the order of all keys.
	 */
	private void acquireAll(List<String> missing, LockEvents events) {
		List<LockLease> atOnce = (missing.size() > 1) ? acquireAtOnce(missing, events) : null;
		int next = 0;
		for (String key : this.keys) {
			boolean isMissing = next < missing.size() && missing.get(next).equals(key);
			LockCall holder = isMissing ? null : LockCall.holding(this.backend, this.spec.storedKey(key));
			LockLease held = (holder != null) ? holder.lease(this.backend, this.spec.storedKey(key)) : null;
			if (holder != null && held != null) {
				this.leases.add(held);
				addLender(holder);
			}
			else {
				this.leases.add((atOnce != null) ? atOnce.get(next) : acquire(key, events));
				next++;
			}
		}
	}

	private void addLender(LockCall holder) {
		if (this.lenders.isEmpty()) {
			this.lenders = new LinkedHashSet<>();
		}
		this.lenders.add(holder);
	}

	/**
	 * Several free keys may take one round trip.
	 */
	private @Nullable List<LockLease> acquireAtOnce(List<String> missing, LockEvents events) {
		if (this.engine.isDraining()) {
			return null;
		}
		List<LockLease> leases = this.backend
			.acquireAll(missing.stream().map((key) -> request(key, remainingWait())).toList());
		if (leases == null) {
			return null;
		}
		for (int i = 0; i < leases.size(); i++) {
			this.acquired.add(held(missing.get(i), leases.get(i), events));
		}
		this.acquired.forEach(HeldLease::keepRenewed);
		if (this.engine.isClosed()) {
			throw notAcquired(missing.get(0), LockNotAcquiredException.Reason.SHUTDOWN, null);
		}
		logger.trace("{} locks acquired at once", leases.size());
		return leases;
	}

	private LockRequest request(String key, Duration waitTime) {
		return this.spec.request(key, waitTime, LockOwner.ofCurrentThread(this.spec.name()), this.commits.claims());
	}

	private LockLease acquire(String key, LockEvents events) {
		OpenCalls.Entry open = Objects.requireNonNull(this.open);
		LockLease lease = null;
		Exception failure = null;
		open.beginWait(key, this.acquired);
		// Asked after the wait has been noted, so that no waiter misses the shutdown
		boolean draining = this.engine.isDraining();
		boolean cancelled;
		try {
			lease = this.engine.isClosed() ? null : attempt(key, draining ? Duration.ZERO : remainingWait(), events);
		}
		catch (InterruptedException | RejectedExecutionException ex) {
			failure = ex;
		}
		finally {
			cancelled = open.endWait();
		}
		if (failure instanceof InterruptedException && !cancelled) {
			Thread.currentThread().interrupt();
		}
		if (lease != null && !this.engine.isClosed()) {
			return lease;
		}
		throw notAcquired(key, reason(failure, draining || cancelled), failure);
	}

	private @Nullable LockLease attempt(String key, Duration waitTime, LockEvents events) throws InterruptedException {
		LockLease lease = this.backend.acquire(request(key, waitTime));
		if (lease != null) {
			HeldLease acquired = held(key, lease, events);
			this.acquired.add(acquired);
			acquired.keepRenewed();
		}
		return lease;
	}

	private LockNotAcquiredException.Reason reason(@Nullable Exception failure, boolean stopping) {
		if (failure instanceof RejectedExecutionException) {
			return LockNotAcquiredException.Reason.QUEUE_FULL;
		}
		if (stopping || this.engine.isDraining() || this.engine.isClosed()) {
			return LockNotAcquiredException.Reason.SHUTDOWN;
		}
		return (failure != null) ? LockNotAcquiredException.Reason.INTERRUPTED : LockNotAcquiredException.Reason.BUSY;
	}

	/**
	 * The lock is busy, whether the store can still tell who holds it or not.
	 */
	private @Nullable String holder(String key) {
		try {
			LockHolder holder = this.backend.holder(this.spec.storedKey(key));
			return (holder != null) ? holder.text() : null;
		}
		catch (LockBackendException ex) {
			return null;
		}
	}

	private HeldLease held(String key, LockLease lease, LockEvents events) {
		return new HeldLease(key, lease, this.spec.times(), this.renewal, events);
	}

	private void giveBack(Throwable cause) {
		for (int i = this.acquired.size() - 1; i >= 0; i--) {
			try {
				HeldLease lease = this.acquired.get(i);
				if (!lease.handOver()) {
					lease.release().toCompletableFuture().join();
				}
			}
			catch (RuntimeException | Error ex) {
				cause.addSuppressed(ex);
			}
		}
	}

	private Duration remainingWait() {
		Duration remaining = this.spec.times().waitTime().minusNanos(System.nanoTime() - this.start);
		return remaining.isNegative() ? Duration.ZERO : remaining;
	}

	private LockNotAcquiredException notAcquired(String key, LockNotAcquiredException.Reason reason,
			@Nullable Exception cause) {
		String holder = (reason == LockNotAcquiredException.Reason.BUSY) ? holder(key) : null;
		return new LockNotAcquiredException(key, reason, this.spec.times().waitTime(), holder, cause);
	}

}
