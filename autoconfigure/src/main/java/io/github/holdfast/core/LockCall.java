package io.github.holdfast.core;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockException;
import io.github.holdfast.LockListener.Operation;
import io.github.holdfast.LockListener.Outcome;
import io.github.holdfast.LockLostAfterWorkException;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockSnapshot;
import io.github.holdfast.core.LockGuard.PendingLease;
import io.github.holdfast.core.LockGuard.Protection;
import io.github.holdfast.core.LockSettings.BodyTransaction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.util.Assert;

/**
 * One call under locks: it waits for them, holds them, and gives them back. Keys that an
 * outer call of the same thread holds are borrowed from it.
 *
 * <p>
 * The call is on the stack of the thread that opened it. Another thread may close it;
 * nothing is handed over then, because the first thread may still be running.
 */
public final class LockCall implements LockContext, AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(LockCall.class);

	private static final ThreadLocal<@Nullable LockCall> INNERMOST = new ThreadLocal<>();

	private final LockManager manager;

	private final LockSettings settings;

	private final Protection protection;

	private final List<String> keys;

	private final List<Grant> grants = new CopyOnWriteArrayList<>();

	private final Map<String, LockCall> lenders;

	private final @Nullable LockCall outer;

	private final Thread thread = Thread.currentThread();

	private final long start;

	private final AtomicReference<State> state = new AtomicReference<>(State.WAITING);

	private final LockListeners listeners;

	private final AtomicBoolean closing = new AtomicBoolean();

	private final Set<Grant> lost = new CopyOnWriteArraySet<>();

	private final Set<Result> results = Collections.synchronizedSet(EnumSet.noneOf(Result.class));

	private volatile long heldSince;

	private volatile @Nullable String awaited;

	private boolean cancelled;

	LockCall(LockManager manager, LockSettings settings, Protection protection, Collection<String> keys, long start) {
		this.manager = manager;
		this.settings = settings;
		this.protection = protection;
		this.keys = (keys.size() == 1) ? List.copyOf(keys) : List.copyOf(new TreeSet<>(keys));
		this.start = start;
		this.outer = current();
		this.lenders = (this.outer != null) ? lenders(this.outer) : Map.of();
		this.listeners = new LockListeners(manager.listeners(), settings, missing(), manager.backendName());
	}

	private Map<String, LockCall> lenders(LockCall outer) {
		Map<String, LockCall> lenders = new LinkedHashMap<>();
		for (String key : this.keys) {
			LockCall lender = outer.lender(this.manager, this.settings.storedKey(key));
			if (lender != null) {
				lender.checkCovers(key, this.settings.mode());
				lenders.put(key, lender);
			}
		}
		return lenders;
	}

	/**
	 * The call on the stack that acquired a key.
	 */
	private @Nullable LockCall lender(LockManager manager, String storedKey) {
		LockCall call = this;
		while (call != null && (call.manager != manager || call.find(storedKey) == null)) {
			call = call.outer();
		}
		return call;
	}

	private @Nullable Grant find(String storedKey) {
		for (Grant grant : this.grants) {
			if (grant.request().key().equals(storedKey)) {
				return grant;
			}
		}
		return null;
	}

	/**
	 * Two holders of a shared lock that both wanted it exclusively would wait for each
	 * other.
	 */
	private void checkCovers(String key, LockMode wanted) {
		if (mode() != LockMode.EXCLUSIVE && mode() != wanted) {
			throw new IllegalStateException("Lock " + LockException.quote(key) + " is already held in mode " + mode()
					+ " by lock '" + name() + "' of the same call chain, so it cannot be taken in mode " + wanted
					+ ". Take it in mode " + wanted + " in the outer call");
		}
	}

	/**
	 * The innermost call that the current thread holds locks by.
	 * @return the call, or {@code null}
	 */
	public static @Nullable LockCall current() {
		LockCall innermost = INNERMOST.get();
		if (innermost != null && innermost.state.get() != State.HELD) {
			innermost = innermost.outer();
			INNERMOST.set(innermost);
		}
		return innermost;
	}

	/**
	 * The next outer call that still holds its locks.
	 * @return the call, or {@code null}
	 */
	public @Nullable LockCall outer() {
		LockCall call = this.outer;
		while (call != null && call.state.get() != State.HELD) {
			call = call.outer;
		}
		return call;
	}

	// What the call is

	public LockSettings settings() {
		return this.settings;
	}

	/**
	 * How the transactions of this call are bound to its locks.
	 * @return the protection
	 */
	public Protection protection() {
		return this.protection;
	}

	public LockMode mode() {
		return this.settings.mode();
	}

	/**
	 * The grants that this call acquired itself, in the order of the keys.
	 * @return the grants
	 */
	public List<Grant> grants() {
		return Collections.unmodifiableList(this.grants);
	}

	/**
	 * The keys that no outer call holds.
	 * @return the keys as the caller gave them
	 */
	public List<String> missing() {
		return this.lenders.isEmpty() ? this.keys
				: this.keys.stream().filter((key) -> !this.lenders.containsKey(key)).toList();
	}

	@Override
	public String name() {
		return this.settings.name();
	}

	@Override
	public List<String> keys() {
		return this.keys;
	}

	private Grant grant(String key) {
		Grant grant = this.lenders.getOrDefault(key, this).find(this.settings.storedKey(key));
		if (grant == null) {
			throw new IllegalArgumentException("Lock '" + name() + "' does not hold " + LockException.quote(key)
					+ " but " + this.keys.stream().map(LockException::quote).toList());
		}
		return grant;
	}

	/**
	 * The key of a grant.
	 * @param grant a grant of this call
	 * @return the key as the caller gave it
	 */
	public String key(Grant grant) {
		return this.settings.callersKey(grant.request().key());
	}

	@Override
	public long fencingToken(String key) {
		LockCall owner = this.lenders.getOrDefault(key, this);
		if (owner.mode() == LockMode.OPTIMISTIC) {
			throw new UnsupportedOperationException("Lock '" + name() + "' is optimistic and has no fencing token");
		}
		long token = grant(key).fencingToken();
		// Read before the state: the grant of a call that is over may have another turn
		Assert.state(owner.state.get() != State.CLOSED,
				() -> "Lock '" + name() + "' has been given back: read its fencing token while it is held");
		return token;
	}

	@Override
	public @Nullable Duration remaining() {
		return this.keys.stream()
			.map((key) -> grant(key).remaining())
			.filter((remaining) -> remaining != null)
			.min(Duration::compareTo)
			.orElse(null);
	}

	@Override
	public boolean isValid(String key) {
		return this.state.get() == State.HELD && grant(key).isValid();
	}

	/**
	 * How long all locks have been held.
	 * @return the time, zero while the call still waits for a lock
	 */
	public Duration holdTime() {
		return Duration.ofNanos((this.heldSince != 0) ? System.nanoTime() - this.heldSince : 0);
	}

	private Duration waitTime() {
		return Duration
			.ofNanos(((this.heldSince != 0 && this.state.get() == State.HELD) ? this.heldSince : System.nanoTime())
					- this.start);
	}

	long remainingWait() {
		return Math.max(0, this.settings.times().waitNanos() - (System.nanoTime() - this.start));
	}

	LockListeners listeners() {
		return this.listeners;
	}

	// What becomes of it

	/**
	 * Notes that the thread waits for a key, so that a shutdown can end the wait.
	 * @param key the key
	 */
	public synchronized void beginWait(String key) {
		this.awaited = key;
	}

	/**
	 * Notes that the wait is over.
	 * @return whether a shutdown has ended it
	 */
	public synchronized boolean endWait() {
		this.awaited = null;
		if (this.cancelled) {
			Thread.interrupted();
		}
		return this.cancelled;
	}

	synchronized boolean isCancelled() {
		return this.cancelled;
	}

	synchronized void cancelWait() {
		if (this.awaited != null && !this.cancelled) {
			this.cancelled = true;
			this.thread.interrupt();
		}
	}

	void add(Grant grant) {
		this.grants.add(grant);
	}

	/**
	 * A lease may have run out while another key was waited for.
	 */
	void open() {
		for (Grant grant : this.grants) {
			if (!grant.isValid()) {
				throw new LockBackendException(grant.request().key(),
						"was granted, but its lease was over before the method began", null);
			}
		}
		this.state.set(State.HELD);
		INNERMOST.set(this);
		this.manager.guard().acquired(this);
		if (this.protection != Protection.TRANSACTION) {
			acquired();
		}
	}

	private void acquired() {
		this.heldSince = System.nanoTime();
		this.listeners.acquired(waitTime());
	}

	/**
	 * Called inside the transaction that the method declares, before the method.
	 */
	public void beforeBody() {
		this.manager.guard().beforeBody(this);
	}

	/**
	 * Notes that the transaction has taken all locks of this call.
	 * @param nextMayAsk whether the next thread of this JVM may wait in the database
	 */
	public void taken(boolean nextMayAsk) {
		acquired();
		if (nextMayAsk) {
			this.grants.forEach(Grant::exitQueue);
		}
	}

	/**
	 * Notes that the transaction that has taken the locks has ended, and the locks with
	 * it. Later callbacks do not run under this call, and may take the locks again.
	 */
	public void over() {
		this.state.compareAndSet(State.HELD, State.OVER);
		this.grants.forEach(Grant::exitQueue);
	}

	/**
	 * Notes what a transaction under this call ended with.
	 * @param result the result
	 */
	public void note(Result result) {
		this.results.add(result);
	}

	/**
	 * Whether a transaction under this call ended with a result.
	 * @param result the result
	 * @return {@code true} if one did
	 */
	public boolean has(Result result) {
		return this.results.contains(result);
	}

	/**
	 * Whether a transaction under this call was committed, or may have been.
	 * @return {@code true} if one was or may have been
	 */
	public boolean isCommitted() {
		return has(Result.COMMITTED) || has(Result.UNKNOWN);
	}

	/**
	 * Notes that the body has not run, because its transaction did not get the locks.
	 * @param cause the exception that the caller gets
	 */
	public void refused(RuntimeException cause) {
		note(Result.REFUSED);
		over();
		if (this.heldSince == 0) {
			this.listeners.notAcquired(waitTime(), cause);
		}
	}

	/**
	 * The lock that the transaction must take.
	 */
	@Nullable PendingLease pending(String key) {
		Grant grant = (this.protection == Protection.TRANSACTION) ? find(this.settings.storedKey(key)) : null;
		return (grant != null) ? (PendingLease) grant.lease() : null;
	}

	/**
	 * Notes that a grant of this call is lost, and that the caller gets an exception.
	 * @param grant the grant
	 */
	public void lossReported(Grant grant) {
		note(Result.LOST);
		lost(grant);
	}

	Outcome lost(Grant grant) {
		if (this.grants.contains(grant) && this.lost.add(grant)) {
			this.listeners.lost(key(grant), holdTime());
		}
		return Outcome.LOST;
	}

	// The end

	@Override
	public void close() {
		if (this.state.get() == State.CLOSED || !this.closing.compareAndSet(false, true)) {
			return;
		}
		if (this.protection == Protection.TRANSACTION && this.heldSince == 0 && !has(Result.REFUSED)
				&& !missing().isEmpty()) {
			refused(new IllegalStateException("The transaction of lock '" + name() + "' has not begun"));
		}
		boolean later = false;
		try {
			later = this.manager.guard().beforeRelease(this, this::giveBack);
		}
		finally {
			if (!later) {
				giveBack();
			}
		}
	}

	private void giveBack() {
		Duration holdTime = holdTime();
		boolean mayHandOver = Thread.currentThread() == this.thread && !has(Result.UNKNOWN) && this.lost.isEmpty()
				&& !has(Result.REFUSED) && this.protection != Protection.TRANSACTION;
		this.state.set(State.CLOSED);
		current();
		boolean guarded = has(Result.COMMITTED)
				&& (has(Result.CLAIMED) || this.protection == Protection.LEASE && isTransaction());
		Outcome worst = has(Result.CONFLICT) ? Outcome.CONFLICT : Outcome.RELEASED;
		String lost = null;
		for (int i = this.grants.size() - 1; i >= 0; i--) {
			Outcome outcome = giveBack(this.grants.get(i), mayHandOver, guarded);
			worst = (outcome.compareTo(worst) > 0) ? outcome : worst;
			lost = (outcome == Outcome.LOST) ? key(this.grants.get(i)) : lost;
		}
		this.manager.ended(this);
		if (this.heldSince != 0 && !this.grants.isEmpty()) {
			logger.debug("Lock '{}' {} was held for {} ms: {}", name(), this.keys, holdTime.toMillis(), worst);
			this.listeners.released(worst, holdTime);
		}
		if (lost != null && !guarded && !has(Result.LOST) && !has(Result.REFUSED)) {
			throw new LockLostAfterWorkException(lost);
		}
	}

	private boolean isTransaction() {
		BodyTransaction transaction = this.settings.transaction();
		return transaction != null && transaction.innermost() && transaction.begins();
	}

	private Outcome giveBack(Grant grant, boolean mayHandOver, boolean guarded) {
		try {
			if (has(Result.UNKNOWN) && grant.lease().expires()) {
				logger.warn("Lock {} is kept until its lease time is over, because it is unknown whether a commit "
						+ "under it took place", LockException.quote(grant.request().key()));
				grant.keepUntilRunOut();
				return Outcome.KEPT;
			}
			Duration rest = restOfMinHoldTime();
			if (!rest.isZero()) {
				return grant.keepFor(rest) ? Outcome.HELD : lost(grant);
			}
			if (mayHandOver && grant.handOver(this.manager.handoverNanos())) {
				return Outcome.RELEASED;
			}
			CompletionStage<Boolean> answer = grant.release();
			if (guarded && !answer.toCompletableFuture().isDone()) {
				answer.whenComplete((released, failure) -> notReleased(grant, failure));
				return Outcome.RELEASED;
			}
			return Grant.join(answer) ? Outcome.RELEASED : lost(grant);
		}
		catch (RuntimeException | Error ex) {
			notReleased(grant, ex);
			return grant.isStale() ? lost(grant) : Outcome.FAILED;
		}
	}

	private void notReleased(Grant grant, @Nullable Throwable failure) {
		if (failure != null) {
			logger.warn("Lock {} could not be released; it expires unless another attempt succeeds",
					LockException.quote(grant.request().key()), Grant.cause(failure));
			this.listeners.backendFailure(Operation.RELEASE, Grant.cause(failure));
		}
	}

	private Duration restOfMinHoldTime() {
		Duration least = this.settings.times().minHoldTime();
		if (least == null || has(Result.REFUSED)) {
			return Duration.ZERO;
		}
		Duration rest = least.minus(holdTime());
		return rest.isNegative() ? Duration.ZERO : rest.plusMillis(1);
	}

	/**
	 * Gives back what a call has acquired that does not get all of its locks.
	 */
	void giveUp(Throwable cause) {
		this.state.set(State.CLOSED);
		current();
		for (int i = this.grants.size() - 1; i >= 0; i--) {
			Grant grant = this.grants.get(i);
			if (this.protection == Protection.TRANSACTION || !grant.handOver(this.manager.handoverNanos())) {
				grant.giveBack(cause);
			}
		}
		this.manager.ended(this);
		if (!missing().isEmpty() && this.heldSince == 0) {
			this.listeners.notAcquired(waitTime(), cause);
		}
	}

	List<LockSnapshot> snapshots() {
		boolean held = this.heldSince != 0 && this.state.get() == State.HELD;
		Duration holdTime = held ? holdTime() : null;
		List<LockSnapshot> snapshots = new ArrayList<>();
		this.grants.forEach((grant) -> snapshots.add(snapshot(key(grant), holdTime, grant.remaining())));
		String awaited = this.awaited;
		if (awaited != null && find(this.settings.storedKey(awaited)) == null) {
			snapshots.add(snapshot(awaited, null, null));
		}
		return snapshots;
	}

	private LockSnapshot snapshot(String key, @Nullable Duration holdTime, @Nullable Duration remaining) {
		return new LockSnapshot(name(), key, mode(), this.thread.getName(), waitTime(), holdTime, remaining);
	}

	/**
	 * What a transaction under a call ended with.
	 */
	public enum Result {

		/** It was to take the locks and did not get them, so the body has not run. */
		REFUSED,

		/** Another commit has replaced the version of an optimistic call. */
		CONFLICT,

		/** The lock was lost, and the caller has got an exception that says so. */
		LOST,

		/** The transaction of the method has locked all rows. */
		CLAIMED,

		/** It was committed, after its check. */
		COMMITTED,

		/**
		 * Its COMMIT got no answer. The locks are not handed over, and leases that expire
		 * are not released.
		 */
		UNKNOWN

	}

	/**
	 * What a call is about to do.
	 */
	private enum State {

		/** It waits for its locks. */
		WAITING,

		/** The body runs. */
		HELD,

		/** The transaction that had the locks has ended; the body may still run. */
		OVER,

		/** The locks have been given back. */
		CLOSED

	}

}
