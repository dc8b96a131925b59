package io.github.holdfast.core;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackend.Capability;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockCallback;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockNotAcquiredException.Reason;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockRequest.Owner;
import io.github.holdfast.LockSnapshot;
import io.github.holdfast.ManageableLockBackend;
import io.github.holdfast.core.LockGuard.NotTakenException;
import io.github.holdfast.core.LockGuard.PendingLease;
import io.github.holdfast.core.LockGuard.Protection;
import org.jspecify.annotations.Nullable;

import org.springframework.util.function.SingletonSupplier;

/**
 * Takes the locks of all calls of an application and gives them back. Safe for use by
 * many threads.
 */
public final class LockManager implements AutoCloseable {

	private final SingletonSupplier<LockBackend> backend;

	private final SingletonSupplier<LockGuard> guard;

	private final SingletonSupplier<List<LockListener>> listeners;

	private final Watchdog watchdog = new Watchdog(this::backendName);

	private final Function<String, LockSettings.@Nullable Overrides> overrides;

	private final LockSettings defaults;

	private final long handoverNanos;

	private final LocalQueue queue = new LocalQueue();

	private final Set<LockCall> calls = ConcurrentHashMap.newKeySet();

	private volatile boolean draining;

	private volatile boolean closed;

	/**
	 * Create a manager.
	 * @param backend supplies the backend, at the first call
	 * @param guard supplies the guard of the transactions, at the first call
	 * @param listeners supplies the listeners, at the first call
	 * @param overrides the configured overrides by lock name
	 * @param defaults the settings that a {@code LockTemplate} begins with
	 * @param handover how long the threads of this JVM may hand a lock over before the
	 * store gets it back; zero switches handovers off
	 */
	public LockManager(Supplier<LockBackend> backend, Supplier<LockGuard> guard, Supplier<List<LockListener>> listeners,
			Function<String, LockSettings.@Nullable Overrides> overrides, LockSettings defaults, Duration handover) {
		this.backend = SingletonSupplier.of(backend);
		this.guard = SingletonSupplier.of(guard);
		this.listeners = SingletonSupplier.of(listeners);
		this.overrides = overrides;
		this.defaults = defaults;
		this.handoverNanos = handover.toNanos();
	}

	/**
	 * Create a manager for a backend, without transactions and listeners.
	 * @param backend the backend
	 */
	public LockManager(LockBackend backend) {
		this(() -> backend, () -> LockGuard.NONE, List::of, (name) -> null, LockSettings.DEFAULT,
				Duration.ofMillis(25));
	}

	/**
	 * The settings that a {@code LockTemplate} begins with.
	 * @return the settings
	 */
	public LockSettings defaults() {
		return this.defaults;
	}

	/**
	 * Applies the configured overrides.
	 * @param settings the settings of the code
	 * @return the settings that count
	 */
	public LockSettings effective(LockSettings settings) {
		return settings.overriddenBy(this.overrides.apply(settings.name()));
	}

	/**
	 * Calls a body under its locks.
	 * @param <T> the type of the result
	 * @param <E> what the body throws
	 * @param keys the keys, at least one
	 * @param settings how to take them
	 * @param body the code; several times if its transaction did not get its locks, or if
	 * they are optimistic
	 * @return what the body returned
	 * @throws E what the body threw
	 */
	@SuppressWarnings("try")
	public <T extends @Nullable Object, E extends Throwable> T execute(Collection<String> keys, LockSettings settings,
			LockCallback<T, E> body) throws E {
		if (settings.mode() == LockMode.OPTIMISTIC) {
			return new OptimisticCall(this, settings, keys).run(body);
		}
		long start = System.nanoTime();
		LockCall opened = open(keys, settings, start);
		try (LockCall call = opened) {
			while (true) {
				awaitAttempt(call);
				try {
					return body.call();
				}
				catch (NotTakenException ex) {
					if (!ex.isOf(call)) {
						throw ex;
					}
					guard().beforeAcquire(call);
					ex.remedy();
				}
			}
		}
	}

	/**
	 * Takes the locks of a call.
	 * @param keys the keys, at least one
	 * @param settings how to take them; optimistic and transaction locks need
	 * {@link #execute}
	 * @return the call, to be closed
	 */
	public LockCall acquire(Collection<String> keys, LockSettings settings) {
		return open(keys, settings.withTransaction(null), System.nanoTime());
	}

	LockCall open(Collection<String> keys, LockSettings settings, long start) {
		LockCall call = new LockCall(this, settings, guard().protectionOf(settings), keys, start);
		guard().beforeAcquire(call);
		if (!call.missing().isEmpty()) {
			this.calls.add(call);
			call.listeners().attempt();
		}
		try {
			for (String key : call.missing()) {
				call.add(acquire(call, key));
			}
			call.open();
			return call;
		}
		catch (LockBackendException ex) {
			LockBackendException failure = ex.withKey(settings.callersKey(ex.key()));
			call.giveUp(failure);
			throw failure;
		}
		catch (RuntimeException | Error ex) {
			call.giveUp(ex);
			throw ex;
		}
	}

	private Grant acquire(LockCall call, String key) {
		return await(call, key, () -> attempt(call, key, remainingWait(call)));
	}

	/**
	 * Waits for a key, until the time is over, the thread is interrupted or a shutdown
	 * begins.
	 */
	private <T> T await(LockCall call, String key, LockCallback<@Nullable T, InterruptedException> wait) {
		T result = null;
		Exception failure = null;
		boolean cancelled;
		call.beginWait(key);
		try {
			result = this.closed ? null : wait.call();
		}
		catch (InterruptedException | RejectedExecutionException ex) {
			failure = ex;
		}
		finally {
			cancelled = call.endWait();
		}
		if (result == null) {
			throw notAcquired(call, key, reason(failure, cancelled), failure);
		}
		return result;
	}

	/**
	 * Asked after the wait has been noted, so that a shutdown meets every waiter.
	 */
	private long remainingWait(LockCall call) {
		return this.draining ? 0 : call.remainingWait();
	}

	private @Nullable Grant attempt(LockCall call, String key, long nanos) throws InterruptedException {
		String storedKey = call.settings().storedKey(key);
		if (call.mode() != LockMode.EXCLUSIVE || call.settings().fair()) {
			return grant(call, storedKey, null, null, nanos);
		}
		long arrived = System.nanoTime();
		LocalQueue.Turn turn = this.queue.enter(storedKey, nanos);
		RuntimeException failure = (turn == null) ? this.queue.failure(storedKey, arrived) : null;
		if (failure != null) {
			throw new LockBackendException(storedKey,
					"could not be acquired, because the store failed for another thread that asked for it", failure);
		}
		Grant grant = null;
		try {
			grant = (turn != null) ? grant(call, storedKey, turn, turn.takeLeft(), nanos) : null;
			return grant;
		}
		finally {
			if (turn != null && grant == null) {
				turn.exit();
			}
		}
	}

	/**
	 * Uses the grant that the thread before has left, or asks the store. A grant that is
	 * superseded in its row was lost before it came.
	 */
	private @Nullable Grant grant(LockCall call, String storedKey, LocalQueue.@Nullable Turn turn, @Nullable Grant left,
			long nanos) throws InterruptedException {
		Grant grant = left;
		if (left != null && (call.protection() == Protection.TRANSACTION || !left.serves(call.settings()))) {
			left.giveBack(null);
			grant = null;
		}
		if (turn != null && grant == null) {
			turn.rest(nanos);
		}
		do {
			grant = (grant != null) ? grant : ask(call, storedKey, turn, Math.min(nanos, call.remainingWait()));
			if (grant == null) {
				return null;
			}
			if (isInstalled(call, grant)) {
				grant.takenBy(call, turn);
				return grant;
			}
			// The turn stays for another question
			grant.giveBack(null);
			grant = null;
		}
		while (call.remainingWait() > 0);
		return null;
	}

	private @Nullable Grant ask(LockCall call, String storedKey, LocalQueue.@Nullable Turn turn, long nanos)
			throws InterruptedException {
		LockSettings settings = call.settings();
		LockRequest request = new LockRequest(storedKey, settings.name(), settings.mode(), settings.fair(),
				Duration.ofNanos(nanos), settings.times().leaseTimeOrDefault(), Owner.currentThread());
		RuntimeException failure = null;
		LockBackend.Lease lease;
		try {
			lease = lease(call, request);
		}
		catch (RuntimeException ex) {
			failure = ex;
			throw ex;
		}
		finally {
			if (turn != null) {
				turn.answered(failure);
			}
		}
		if (lease == null) {
			return null;
		}
		Grant grant = new Grant(request, lease, this.watchdog);
		if (lease.expires()) {
			this.watchdog.watch(grant);
		}
		return grant;
	}

	private LockBackend.@Nullable Lease lease(LockCall call, LockRequest request) throws InterruptedException {
		if (call.mode() == LockMode.OPTIMISTIC) {
			return guard().version(request);
		}
		if (call.protection() == Protection.TRANSACTION) {
			return guard().pending(request);
		}
		checkSupported(call.settings());
		return backend().acquire(request);
	}

	private boolean isInstalled(LockCall call, Grant grant) throws InterruptedException {
		if (call.protection() != Protection.INSTALLED || grant.isInstalled() || call.mode() != LockMode.EXCLUSIVE) {
			return true;
		}
		try {
			return guard().install(grant, call.remainingWait());
		}
		catch (InterruptedException | RuntimeException | Error ex) {
			grant.giveBack(ex);
			throw ex;
		}
	}

	/**
	 * Checks that the backend can do what is asked for.
	 * @param settings what is asked for
	 * @throws UnsupportedOperationException if it cannot
	 */
	public void checkSupported(LockSettings settings) {
		Capability wanted = (settings.mode() == LockMode.SHARED) ? Capability.SHARED : Capability.FAIR;
		boolean asks = settings.mode() == LockMode.SHARED || settings.fair();
		if (asks && !backend().capabilities().contains(wanted)) {
			throw new UnsupportedOperationException("Lock '" + settings.name() + "' needs " + wanted
					+ ", but the backend '" + backendName() + "' offers " + backend().capabilities());
		}
	}

	/**
	 * Waits until the transaction of the body may try to take the locks.
	 */
	private void awaitAttempt(LockCall call) {
		for (String key : call.missing()) {
			PendingLease pending = call.pending(key);
			if (pending == null) {
				return;
			}
			try {
				await(call, key,
						() -> pending.awaitAttempt(remainingWait(call)) && !call.isCancelled() ? pending : null);
			}
			catch (LockBackendException ex) {
				LockBackendException failed = ex.withKey(key);
				call.refused(failed);
				throw failed;
			}
			catch (LockNotAcquiredException ex) {
				call.refused(ex);
				throw ex;
			}
		}
	}

	private Reason reason(@Nullable Exception failure, boolean stopping) {
		if (failure instanceof RejectedExecutionException) {
			return Reason.QUEUE_FULL;
		}
		if (stopping || this.draining || this.closed) {
			return Reason.SHUTDOWN;
		}
		return (failure != null) ? Reason.INTERRUPTED : Reason.BUSY;
	}

	private LockNotAcquiredException notAcquired(LockCall call, String key, Reason reason, @Nullable Exception cause) {
		if (reason == Reason.INTERRUPTED) {
			Thread.currentThread().interrupt();
		}
		return new LockNotAcquiredException(key, reason, call.settings().times().waitTimeOrDefault(),
				(reason == Reason.BUSY) ? holder(call.settings().storedKey(key)) : null, cause);
	}

	private @Nullable String holder(String storedKey) {
		try {
			LockHolder holder = backend().holder(storedKey);
			return (holder != null) ? holder.description() : null;
		}
		catch (LockBackendException ex) {
			// The lock is busy, even if the store does not answer now
			return null;
		}
	}

	/**
	 * Waits between two attempts of an optimistic call.
	 */
	void pause(LockCall call, long nanos) {
		this.calls.add(call);
		try {
			await(call, call.keys().get(0), () -> {
				TimeUnit.NANOSECONDS.sleep(Math.min(nanos, remainingWait(call)));
				return this.draining ? null : call;
			});
		}
		finally {
			this.calls.remove(call);
		}
	}

	LockBackend backend() {
		return this.backend.obtain();
	}

	String backendName() {
		return backend().name();
	}

	LockGuard guard() {
		return this.guard.obtain();
	}

	List<LockListener> listeners() {
		return this.listeners.obtain();
	}

	long handoverNanos() {
		return this.handoverNanos;
	}

	void ended(LockCall call) {
		this.calls.remove(call);
	}

	/**
	 * The locks that the calls of this JVM hold and wait for. Shows one moment for each
	 * call, but not the same for all.
	 * @return one entry for each key
	 */
	public List<LockSnapshot> snapshots() {
		return this.calls.stream().flatMap((call) -> call.snapshots().stream()).toList();
	}

	/**
	 * Takes a lock away from its holder, for an operator.
	 * @param key the stored key
	 * @return whether there was a holder
	 * @throws UnsupportedOperationException if the backend cannot do it
	 */
	public boolean forceRelease(String key) {
		if (!(backend() instanceof ManageableLockBackend manageable)) {
			throw new UnsupportedOperationException(
					"The backend '" + backendName() + "' cannot take locks away: end the process that holds it");
		}
		LockHolder holder = manageable.holder(key);
		if (holder != null) {
			guard().exclude(key, holder.epoch());
		}
		return manageable.forceRelease(key);
	}

	/**
	 * Prepares the shutdown: callers that wait, now or later, get a
	 * {@link LockNotAcquiredException} with reason {@code SHUTDOWN}. Free locks are still
	 * granted, and held locks are renewed.
	 */
	public void drain() {
		this.draining = true;
		this.calls.forEach(LockCall::cancelWait);
	}

	/**
	 * Whether no call holds or waits for a lock.
	 * @return {@code true} when all locks have been given back
	 */
	public boolean isIdle() {
		return this.calls.isEmpty();
	}

	/**
	 * Stops the renewal of all leases. New calls get a {@link LockNotAcquiredException}
	 * with reason {@code SHUTDOWN}.
	 */
	@Override
	public void close() {
		this.closed = true;
		drain();
		this.watchdog.close();
	}

}
