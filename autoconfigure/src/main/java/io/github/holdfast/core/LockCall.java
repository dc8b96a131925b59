package io.github.holdfast.core;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.annotation.Propagation;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockListener.Outcome;
import io.github.holdfast.LockOverlapException;
import io.github.holdfast.LockRequest;

/**
 * One locked call, from the moment all of its locks are held until they are given back.
 * Leases that an outer call acquired are seen but not released.
 *
 * <p>
 * It is on the stack of the thread that opened it, and may be closed by another one. That
 * one does not know what the first still does, so nothing is handed over then.
 */
public final class LockCall implements HeldLock, AutoCloseable {

	private static final Logger logger = Loggers.TEMPLATE;

	private final LockBackend backend;

	private final LockSpec spec;

	private final List<String> keys;

	private final List<LockLease> leases;

	private final List<HeldLease> acquired;

	private final Map<String, LockLease> acquiredByKey;

	private final List<LockCall> holders;

	private final Commits commits;

	private final List<LockRule> rules;

	private final LockEvents events;

	private final Runnable whenOver;

	private final Thread opener = Thread.currentThread();

	private final AtomicReference<State> state = new AtomicReference<>(State.OPENING);

	private volatile Loss loss = Loss.UNREPORTED;

	private volatile @Nullable Consumer<Runnable> registrar;

	private Duration holdTime = Duration.ZERO;

	private boolean claimBegun;

	/** Whether the body has not begun, as its transaction could not claim. */
	private boolean bodyRefused;

	/**
	 * Create a call whose locks are held, as the innermost one of this thread.
	 * @param backend the backend of the leases
	 * @param spec how the locks were asked for
	 * @param keys the keys as the caller gave them
	 * @param leases one lease for each key
	 * @param acquired those leases that this call releases, in the order of their
	 * acquisition
	 * @param lenders the outer calls of the other leases
	 * @param commits takes notes of the transactions
	 * @param rules take part
	 * @param events tells the listeners
	 * @param whenOver is run when everything has been given back and the store has
	 * answered
	 */
	LockCall(LockBackend backend, LockSpec spec, List<String> keys, List<LockLease> leases, List<HeldLease> acquired,
			Collection<LockCall> lenders, Commits commits, List<LockRule> rules, LockEvents events, Runnable whenOver) {
		this.backend = backend;
		this.spec = spec;
		this.keys = keys;
		this.leases = Collections.unmodifiableList(leases);
		this.acquired = acquired;
		this.acquiredByKey = byKey(acquired);
		this.holders = holders(lenders);
		this.commits = commits;
		this.rules = rules;
		this.events = events;
		this.whenOver = whenOver;
		LockStack.push(this);
	}

	private static Map<String, LockLease> byKey(List<HeldLease> acquired) {
		if (acquired.size() == 1) {
			LockLease lease = acquired.get(0).lease();
			return Map.of(lease.key(), lease);
		}
		Map<String, LockLease> leases = new HashMap<>();
		acquired.forEach((one) -> leases.put(one.lease().key(), one.lease()));
		return leases;
	}

	private List<LockCall> holders(Collection<LockCall> lenders) {
		if (lenders.isEmpty()) {
			return List.of(this);
		}
		List<LockCall> holders = new ArrayList<>(lenders);
		if (!isReentry()) {
			holders.add(this);
		}
		return holders;
	}

	/**
	 * Let the rules prepare the thread for the body.
	 */
	void open() {
		if (!isReentry()) {
			if (isPending()) {
				this.events.pending();
			}
			else {
				this.events.acquired(this.acquired);
			}
			try {
				this.rules.forEach((rule) -> rule.acquired(this));
			}
			catch (Throwable ex) {
				this.loss = Loss.REPORTED;
				if (this.events.areOpen()) {
					this.events.notAcquired(ex);
				}
				ended();
				try {
					endAndTell(() -> end(false));
				}
				catch (RuntimeException another) {
					ex.addSuppressed(another);
				}
				throw ex;
			}
		}
		this.state.set(State.OPEN);
	}

	/**
	 * Whether the body's transaction still has to take a lock.
	 */
	private boolean isPending() {
		for (HeldLease held : this.acquired) {
			if (held.lease().isPending()) {
				return true;
			}
		}
		return false;
	}

	/**
	 * The events of the acquisition, if its transaction was refused while it still had to
	 * take a lock.
	 */
	@Nullable LockEvents openEvents() {
		return this.events.areOpen() ? this.events : null;
	}

	@Override
	public String name() {
		return this.spec.name();
	}

	@Override
	public List<String> keys() {
		return this.keys;
	}

	@Override
	public List<LockLease> leases() {
		return this.leases;
	}

	@Override
	public LockBackend backend() {
		return this.backend;
	}

	@Override
	public boolean isHeld() {
		return this.state.get().isHeld();
	}

	/**
	 * Finds the call that acquired a key which the current thread holds already.
	 * @param backend the backend that granted it
	 * @param key the stored id
	 * @return the call, or {@code null}
	 */
	static @Nullable LockCall holding(LockBackend backend, String key) {
		for (HeldLock lock : LockStack.all()) {
			LockCall call = (LockCall) lock;
			if (call.lease(backend, key) != null) {
				return call;
			}
		}
		return null;
	}

	@Override
	public List<LockCall> holders() {
		return this.holders;
	}

	@Nullable LockLease lease(LockBackend backend, String key) {
		return (this.backend == backend) ? this.acquiredByKey.get(key) : null;
	}

	/**
	 * The leases that this call has acquired.
	 */
	List<HeldLease> acquired() {
		return this.acquired;
	}

	/**
	 * How long the locks have been held.
	 */
	Duration holdTime() {
		return this.events.holdTime();
	}

	/**
	 * Whether all leases belong to outer calls.
	 */
	boolean isReentry() {
		return this.acquired.isEmpty();
	}

	@Override
	public LockRequest.Mode mode() {
		return this.spec.mode();
	}

	/**
	 * Whether a call that asks for a mode can go on under these locks.
	 */
	boolean covers(LockRequest.Mode asked) {
		return mode() == LockRequest.Mode.EXCLUSIVE || mode() == asked;
	}

	@Override
	public Duration leaseTime() {
		return this.spec.times().leaseTime();
	}

	@Override
	public @Nullable Propagation propagation() {
		return this.spec.body().propagation();
	}

	/**
	 * The minimum hold time of the lease that was acquired last is over last.
	 */
	@Override
	public boolean mayEndWith(TransactionExecution transaction) {
		return this.commits.isBodyAlone(transaction) && this.state.get() == State.OPEN && this.registrar == null
				&& canBeHandedOver() && mode() == LockRequest.Mode.EXCLUSIVE
				&& this.acquired.size() == this.leases.size()
				&& this.acquired.get(this.acquired.size() - 1).restOfMinHoldTime().isZero();
	}

	@Override
	public void endsWith(TransactionExecution transaction) {
		this.acquired.forEach(HeldLease::stopRenewal);
	}

	@Override
	public void claim() {
		if (!this.commits.claims() || isReentry() || this.claimBegun) {
			return;
		}
		this.claimBegun = true;
		try {
			for (LockRule rule : this.rules) {
				if (rule instanceof ClaimRule claimRule) {
					claimRule.claim(this);
				}
			}
		}
		catch (ClaimRefusedException ex) {
			logger.debug("Lock '{}': {}", name(), ex.getMessage());
			if (ex.isLasting()) {
				this.commits.bodyCannotClaim();
			}
			this.bodyRefused = true;
			throw ex;
		}
		catch (LockBackendException ex) {
			throw notTaken(ex.withKey(this.spec.callersKey(ex.key())));
		}
		if (this.events.areOpen()) {
			this.events.acquired(this.acquired);
		}
	}

	private LockBackendException notTaken(LockBackendException cause) {
		if (this.events.areOpen()) {
			this.events.notAcquired(cause);
		}
		return cause;
	}

	@Override
	public void releaseLater(Consumer<Runnable> registrar) {
		this.registrar = registrar;
	}

	private boolean canBeHandedOver() {
		return this.loss == Loss.UNREPORTED && Thread.currentThread() == this.opener
				&& !this.commits.isOutcomeUnknown();
	}

	/**
	 * The call that has acquired the key tells of it.
	 */
	@Override
	public void lost(String key) {
		if (this.acquiredByKey.containsKey(this.spec.storedKey(key))) {
			this.events.lost(key);
		}
		this.holders.stream().filter((holder) -> holder != this).forEach((holder) -> holder.lost(key));
	}

	@Override
	public void lossReported() {
		if (this.loss == Loss.REPORTED) {
			this.loss = Loss.REPEATED;
			logger
				.warn("Lock '{}' with the keys {} was lost, and keeps refusing commits on this thread until it is closed. "
						+ "A repetition inside of it does not take it again; if the code of these commits is not under this "
						+ "lock, its Scope was left open: close it in a try-with-resources statement", name(),
						this.keys.stream().map(LockException::quote).toList());
		}
		else if (this.loss == Loss.UNREPORTED) {
			this.loss = Loss.REPORTED;
		}
	}

	@Override
	public Commits commits() {
		return this.commits;
	}

	/**
	 * Give the locks back, unless that has been done or begun.
	 */
	@Override
	public void close() {
		switch (this.state.getAndUpdate(State::whenClosed)) {
			case OPEN -> {
				if (!this.bodyRefused) {
					this.commits.bodyOver();
				}
				if (!isReentry() && this.events.areOpen() && !this.bodyRefused) {
					this.events.notAcquired(new IllegalStateException("Its transaction has not begun"));
				}
				ended();
				endAndTell(this::endOrPostpone);
			}
			case OPENING, CLOSING, CLOSED -> {
				// By somebody else
			}
		}
	}

	private void ended() {
		if (!isReentry() && this.events.areAcquired()) {
			this.events.ended();
		}
	}

	private void endOrPostpone() {
		Consumer<Runnable> registrar = this.registrar;
		if (registrar == null || this.bodyRefused) {
			end(!this.bodyRefused);
			return;
		}
		try {
			registrar.accept(() -> end(true));
		}
		catch (RuntimeException ex) {
			end(true);
			throw ex;
		}
	}

	private void end(boolean bodyHasRun) {
		try {
			beforeRelease();
		}
		finally {
			this.holdTime = this.events.holdTime();
			this.state.set(State.CLOSED);
			LockStack.dropEnded();
			giveBack(bodyHasRun);
		}
	}

	private void beforeRelease() {
		tellRules((rule) -> rule.beforeRelease(this));
	}

	/**
	 * The first failure is that of the end.
	 */
	private void endAndTell(Runnable end) {
		try {
			end.run();
		}
		catch (RuntimeException | Error ex) {
			try {
				closed();
			}
			catch (RuntimeException another) {
				ex.addSuppressed(another);
			}
			throw ex;
		}
		closed();
	}

	private void closed() {
		tellRules((rule) -> rule.closed(this));
	}

	/**
	 * All rules, also if it was one of them that has refused.
	 */
	private void tellRules(Consumer<LockRule> end) {
		if (isReentry()) {
			return;
		}
		RuntimeException failure = null;
		for (int i = this.rules.size() - 1; i >= 0; i--) {
			try {
				end.accept(this.rules.get(i));
			}
			catch (RuntimeException ex) {
				if (failure == null) {
					failure = ex;
				}
				else {
					failure.addSuppressed(ex);
				}
			}
		}
		if (failure != null) {
			throw failure;
		}
	}

	private void giveBack(boolean bodyHasRun) {
		if (isReentry()) {
			this.whenOver.run();
			return;
		}
		boolean allGuarded = isAllGuarded();
		boolean awaited = !allGuarded || this.events.areLate()
				|| !this.backend.capabilities().contains(LockBackend.Capability.RELEASE_NOT_AWAITED);
		LockRelease release = new LockRelease(new LockRelease.Terms(bodyHasRun, this.commits.isOutcomeUnknown(),
				canBeHandedOver(), awaited, this.commits.isGuarded(), this.loss != Loss.UNREPORTED), this.events);
		over(release.run(this.acquired));
		String lost = release.lost();
		if (lost != null && this.loss == Loss.UNREPORTED && !allGuarded) {
			throw new LockOverlapException(lost);
		}
	}

	/**
	 * Whether all that was done under the locks was committed after a check: by the
	 * transaction that the body consists of, or the one to whose end they were kept.
	 */
	private boolean isAllGuarded() {
		return this.commits.isBodyGuarded() || (this.registrar != null && this.commits.isGuarded());
	}

	private void over(CompletionStage<Outcome> outcome) {
		outcome.thenAccept((ended) -> {
			boolean conflict = ended == Outcome.RELEASED && this.commits.version() == Commits.Version.CONFLICT;
			if (this.events.areAcquired()) {
				this.events.released(conflict ? Outcome.CONFLICT : ended, this.holdTime);
			}
			this.whenOver.run();
		});
	}

	@Override
	public String toString() {
		return "LockCall[name=" + name() + ", keys=" + this.keys + ", state=" + this.state + "]";
	}

	/**
	 * What a call is about to do.
	 */
	private enum State {

		/** The locks are held, the body has not begun. */
		OPENING,

		/** The body runs. */
		OPEN,

		/** The body is over; the locks are held until they are given back. */
		CLOSING,

		/** The locks are given back, or have been. */
		CLOSED;

		boolean isHeld() {
			return this != CLOSED;
		}

		State whenClosed() {
			return (this == OPEN) ? CLOSING : this;
		}

	}

	/**
	 * How often the caller was told of a loss.
	 */
	private enum Loss {

		UNREPORTED, REPORTED, REPEATED

	}

}
