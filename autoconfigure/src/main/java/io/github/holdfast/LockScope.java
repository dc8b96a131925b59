package io.github.holdfast;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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

	private final LockSettings settings;

	private final List<String> keys;

	private final List<LockLease> leases;

	private final List<AcquiredLease> acquired;

	private final Map<String, LockLease> acquiredByKey;

	private final List<LockListener> listeners;

	private final LockEngine engine;

	private final @Nullable LockScope outer;

	private final List<LockScope> holders;

	private final BodyTransaction transaction;

	private final LockNotes notes = new LockNotes();

	/** Another thread that closes the scope does not know what this one still does. */
	private final Thread opener = Thread.currentThread();

	private final AtomicBoolean closing = new AtomicBoolean();

	private final AtomicBoolean repeated = new AtomicBoolean();

	private volatile boolean held = true;

	private volatile boolean entered;

	private volatile boolean passedOn;

	private volatile @Nullable Consumer<Runnable> registrar;

	/**
	 * Create a scope and make it the innermost one of this thread.
	 * @param backend the backend of the leases
	 * @param settings how the locks were asked for
	 * @param keys the keys as the caller gave them
	 * @param leases one lease for each key
	 * @param acquired those leases that this scope releases, in the order of their
	 * acquisition
	 * @param lenders the outer scopes of the other leases
	 * @param listeners who is told
	 * @param engine is told when everything has been given back and the store has
	 * answered
	 */
	LockScope(LockBackend backend, LockSettings settings, List<String> keys, List<LockLease> leases,
			List<AcquiredLease> acquired, Collection<LockScope> lenders, List<LockListener> listeners,
			LockEngine engine) {
		this.backend = backend;
		this.settings = settings;
		this.transaction = BodyTransaction.of(settings, engine.cleanUps());
		this.keys = keys;
		this.leases = Collections.unmodifiableList(leases);
		this.acquired = acquired;
		this.acquiredByKey = byKey(acquired);
		this.listeners = listeners;
		this.engine = engine;
		this.outer = HeldLocks.current();
		this.holders = holders(lenders);
		HeldLocks.push(this);
	}

	private List<LockScope> holders(Collection<LockScope> lenders) {
		if (lenders.isEmpty()) {
			return List.of(this);
		}
		List<LockScope> holders = new ArrayList<>(lenders);
		if (!this.acquired.isEmpty()) {
			holders.add(this);
		}
		return holders;
	}

	private static Map<String, LockLease> byKey(List<AcquiredLease> acquired) {
		if (acquired.size() == 1) {
			LockLease lease = acquired.get(0).lease();
			return Map.of(lease.key(), lease);
		}
		Map<String, LockLease> leases = new HashMap<>();
		acquired.forEach((one) -> leases.put(one.lease().key(), one.lease()));
		return leases;
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
				this.notes.lossReported();
				end();
				throw ex;
			}
		}
		this.entered = true;
	}

	@Override
	public String name() {
		return this.settings.name();
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

	@Override
	public boolean isHeld() {
		return this.held;
	}

	@Override
	public List<LockScope> holders() {
		return this.holders;
	}

	@Nullable LockLease lease(LockBackend backend, String key) {
		return (this.backend == backend) ? this.acquiredByKey.get(key) : null;
	}

	@Override
	public void guarded(TransactionExecution transaction) {
		this.notes.guarded();
		this.transaction.guarded(transaction);
	}

	boolean isGuarded() {
		return this.notes.isGuarded();
	}

	@Override
	public void overtaken() {
		this.notes.version(LockNotes.Version.OVERTAKEN);
	}

	@Override
	public void replaced() {
		this.notes.version(LockNotes.Version.REPLACED);
	}

	/**
	 * What has become of the versions of optimistic locks, by the last transaction that
	 * wanted to commit.
	 */
	LockNotes.Version version() {
		return this.notes.version();
	}

	/**
	 * Whether all leases belong to outer calls.
	 */
	boolean isReentry() {
		return this.acquired.isEmpty();
	}

	@Override
	public void lossReported() {
		if (this.notes.isLossReported() && this.repeated.compareAndSet(false, true)) {
			logger
				.warn("Lock '{}' with the keys {} was lost, and keeps refusing commits on this thread until it is closed. "
						+ "A repetition inside of it does not take it again; if the code of these commits is not under this "
						+ "lock, its Scope was left open: close it in a try-with-resources statement", name(),
						this.keys.stream().map(LockException::quote).toList());
		}
		this.notes.lossReported();
	}

	@Override
	public @Nullable Propagation propagation() {
		return this.settings.propagation();
	}

	@Override
	public LockRequest.Mode mode() {
		return this.settings.mode();
	}

	/**
	 * Whether a call that asks for a mode can go on under this lock.
	 */
	boolean covers(LockRequest.Mode asked) {
		return mode() == LockRequest.Mode.EXCLUSIVE || mode() == asked;
	}

	@Override
	public Duration leaseTime() {
		return this.settings.leaseTime();
	}

	/**
	 * An optimistic lock has nothing that could be kept.
	 */
	@Override
	public void outcomeUnknown(TransactionExecution transaction, boolean unknown) {
		if (mode() != LockRequest.Mode.OPTIMISTIC) {
			this.notes.outcomeUnknown(transaction, unknown);
		}
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
	public void committed(TransactionExecution transaction, boolean nothingPending) {
		boolean cleanUpIsLong = this.transaction.committed(transaction);
		if (cleanUpIsLong && nothingPending && this.acquired.size() == 1 && this.registrar == null
				&& release().passOn(this.acquired.get(0))) {
			this.passedOn = true;
			this.held = false;
			HeldLocks.current();
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
		try {
			beforeRelease();
		}
		finally {
			this.held = false;
			HeldLocks.current();
			LockRelease release = release();
			try {
				giveBack(release);
			}
			finally {
				release.whenAnswered(this.engine::scopeEnded);
			}
		}
	}

	/**
	 * Tell the listeners, each of them, also if it was one of them that has refused.
	 */
	private void beforeRelease() {
		if (this.passedOn || this.acquired.isEmpty()) {
			return;
		}
		RuntimeException failure = null;
		for (int i = this.listeners.size() - 1; i >= 0; i--) {
			try {
				this.listeners.get(i).beforeRelease(this);
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

	private void giveBack(LockRelease release) {
		if (this.acquired.isEmpty()) {
			return;
		}
		tellReleased(this.passedOn ? LockListener.Outcome.RELEASED : release.run(this.acquired));
		String lost = release.lost();
		if (lost != null && !this.notes.isLossReported() && !isAllGuarded()) {
			throw new LockOverlapException(lost);
		}
	}

	private LockRelease release() {
		boolean passable = !this.notes.isLossReported() && Thread.currentThread() == this.opener;
		return new LockRelease(this.notes, this.backend, isAllGuarded(), this.entered, passable);
	}

	/**
	 * Whether all that was done under the lock was committed after a check: by the
	 * transaction that the body consists of, or the one to whose end the lock was kept.
	 */
	private boolean isAllGuarded() {
		return this.transaction.isGuarded() || (this.registrar != null && this.notes.isGuarded());
	}

	private void tellReleased(LockListener.Outcome outcome) {
		for (LockListener listener : this.listeners) {
			try {
				listener.released(this, outcome);
			}
			catch (RuntimeException ex) {
				logger.warn("Lock '{}': a listener failed on release", name(), ex);
			}
		}
	}

	@Override
	public String toString() {
		return "LockScope[name=" + name() + ", keys=" + this.keys + ", held=" + this.held + "]";
	}

}
