package io.github.holdfast;

import java.time.Duration;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.annotation.Propagation;

/**
 * The locks of one call, from the moment all of them are held until they are given back.
 * Leases that an outer call acquired are seen but not released.
 */
final class LockScope implements LockListener.HeldLock, LockTemplate.Scope {

	private static final Logger logger = LoggerFactory.getLogger(LockTemplate.class);

	private final LockBackend backend;

	private final String name;

	private final LockRequest.Mode mode;

	private final Duration leaseTime;

	private final @Nullable Propagation propagation;

	private final List<String> keys;

	private final List<LockLease> leases;

	private final List<LockRenewal.Task> acquired;

	private final List<LockListener> listeners;

	private final LockEngine engine;

	private final @Nullable LockScope outer;

	private final BodyTransaction transaction;

	/** Another thread that closes the scope does not know what this one still does. */
	private final Thread opener = Thread.currentThread();

	private final AtomicBoolean closing = new AtomicBoolean();

	private volatile boolean held = true;

	private volatile boolean entered;

	/** Of the releases that the caller does not wait for, but the shutdown does. */
	private @Nullable CompletionStage<?> answer;

	private volatile boolean guarded;

	private volatile boolean lossReported;

	private volatile boolean overtaken;

	private volatile boolean passedOn;

	private volatile Set<TransactionExecution> unknownOutcomes = Set.of();

	private volatile @Nullable Consumer<Runnable> registrar;

	/**
	 * Create a scope and make it the innermost one of this thread.
	 * @param backend the backend of the leases
	 * @param settings how the locks were asked for
	 * @param keys the keys as the caller gave them
	 * @param leases one lease for each key
	 * @param acquired the renewals of those leases that this scope releases, in the order
	 * of their acquisition
	 * @param listeners who is told
	 * @param engine is told when everything has been given back and the store has
	 * answered
	 */
	LockScope(LockBackend backend, LockSettings settings, List<String> keys, List<LockLease> leases,
			List<LockRenewal.Task> acquired, List<LockListener> listeners, LockEngine engine) {
		this.backend = backend;
		this.name = settings.name();
		this.mode = settings.mode();
		this.leaseTime = settings.leaseTime();
		this.propagation = settings.propagation();
		this.transaction = BodyTransaction.of(settings, engine.cleanUps());
		this.keys = keys;
		this.leases = Collections.unmodifiableList(leases);
		this.acquired = acquired;
		this.listeners = listeners;
		this.engine = engine;
		this.outer = HeldLocks.current();
		HeldLocks.push(this);
	}

	/**
	 * Tell the listeners that all keys are held.
	 */
	void opened() {
		if (!this.acquired.isEmpty()) {
			try {
				this.listeners.forEach((listener) -> listener.acquired(this));
			}
			catch (RuntimeException | Error ex) {
				this.lossReported = true;
				end();
				throw ex;
			}
		}
		this.entered = true;
	}

	@Override
	public String name() {
		return this.name;
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
	public @Nullable LockScope outer() {
		LockScope scope = this.outer;
		while (scope != null && !scope.held) {
			scope = scope.outer;
		}
		return scope;
	}

	boolean isHeld() {
		return this.held;
	}

	@Nullable LockLease lease(LockBackend backend, String key) {
		if (this.backend == backend) {
			for (LockRenewal.Task renewal : this.acquired) {
				if (renewal.lease().key().equals(key)) {
					return renewal.lease();
				}
			}
		}
		return null;
	}

	@Override
	public void guarded() {
		this.guarded = true;
	}

	boolean isGuarded() {
		return this.guarded;
	}

	@Override
	public void overtaken() {
		this.overtaken = true;
	}

	boolean isOvertaken() {
		return this.overtaken;
	}

	/**
	 * Whether all leases belong to outer calls.
	 */
	boolean isReentry() {
		return this.acquired.isEmpty();
	}

	@Override
	public void lossReported() {
		this.lossReported = true;
	}

	@Override
	public @Nullable Propagation propagation() {
		return this.propagation;
	}

	@Override
	public LockRequest.Mode mode() {
		return this.mode;
	}

	/**
	 * Whether a call that asks for a mode can go on under this lock.
	 */
	boolean covers(LockRequest.Mode asked) {
		return this.mode == LockRequest.Mode.EXCLUSIVE || this.mode == asked;
	}

	@Override
	public Duration leaseTime() {
		return this.leaseTime;
	}

	@Override
	public synchronized void outcomeUnknown(TransactionExecution transaction, boolean unknown) {
		Set<TransactionExecution> outcomes = new HashSet<>(this.unknownOutcomes);
		if (unknown) {
			outcomes.add(transaction);
		}
		else {
			outcomes.remove(transaction);
		}
		this.unknownOutcomes = outcomes;
	}

	@Override
	public void releaseLater(Consumer<Runnable> registrar) {
		this.registrar = registrar;
	}

	@Override
	public void begun(TransactionExecution transaction) {
		this.transaction.begun(transaction);
	}

	/**
	 * Several keys are given back together. The rest of the end has to wait until Spring
	 * has cleaned up: a listener could use the connection of the transaction.
	 */
	@Override
	public void committed(TransactionExecution transaction) {
		if (this.transaction.committed(transaction) && this.acquired.size() == 1 && this.registrar == null) {
			LockRenewal.Task renewal = this.acquired.get(0);
			if (release().passOn(renewal, keyOf(renewal.lease()))) {
				this.passedOn = true;
				this.held = false;
				HeldLocks.current();
			}
		}
	}

	@Override
	public void close() {
		if (!this.closing.compareAndSet(false, true)) {
			return;
		}
		this.transaction.over();
		Consumer<Runnable> registrar = this.registrar;
		if (registrar == null) {
			end();
			return;
		}
		try {
			registrar.accept(this::end);
		}
		catch (RuntimeException ex) {
			end();
			throw ex;
		}
	}

	private void end() {
		this.closing.set(true);
		this.held = false;
		HeldLocks.current();
		try {
			giveBack();
		}
		finally {
			CompletionStage<?> answer = this.answer;
			if (answer != null) {
				answer.thenRun(this.engine::scopeEnded);
			}
			else {
				this.engine.scopeEnded();
			}
		}
	}

	/**
	 * Give back what this scope acquired, last key first, even if one of them fails.
	 */
	private void giveBack() {
		if (this.acquired.isEmpty()) {
			return;
		}
		if (this.passedOn) {
			tellReleased(LockListener.Outcome.RELEASED);
			return;
		}
		String lost = null;
		LockListener.Outcome outcome = LockListener.Outcome.RELEASED;
		LockRelease release = release();
		for (int i = this.acquired.size() - 1; i >= 0; i--) {
			LockRenewal.Task renewal = this.acquired.get(i);
			LockListener.Outcome each = release.run(renewal, keyOf(renewal.lease()));
			if (each == LockListener.Outcome.LOST) {
				lost = keyOf(renewal.lease());
			}
			outcome = (each.compareTo(outcome) > 0) ? each : outcome;
		}
		tellReleased(outcome);
		if (lost != null && !this.lossReported && !this.guarded) {
			throw new LockOverlapException(lost);
		}
	}

	private LockRelease release() {
		boolean keep = !this.unknownOutcomes.isEmpty() && this.mode != LockRequest.Mode.OPTIMISTIC;
		boolean awaited = !this.guarded
				|| !this.backend.capabilities().contains(LockBackend.Capability.RELEASE_NOT_AWAITED);
		boolean passable = !this.lossReported && Thread.currentThread() == this.opener;
		return new LockRelease(keep, this.entered, awaited ? null : this::answeredLater, this.guarded,
				this.lossReported, passable);
	}

	private void answeredLater(CompletionStage<?> answer) {
		CompletionStage<?> earlier = this.answer;
		this.answer = (earlier != null) ? earlier.thenCombine(answer, (first, second) -> second) : answer;
	}

	private void tellReleased(LockListener.Outcome outcome) {
		for (LockListener listener : this.listeners) {
			try {
				listener.released(this, outcome);
			}
			catch (RuntimeException ex) {
				logger.warn("Lock '{}': a listener failed on release", this.name, ex);
			}
		}
	}

	private String keyOf(LockLease lease) {
		return this.keys.get(this.leases.indexOf(lease));
	}

	@Override
	public String toString() {
		return "LockScope[name=" + this.name + ", keys=" + this.keys + ", held=" + this.held + "]";
	}

}
