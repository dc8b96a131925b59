package io.github.holdfast.core;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.util.function.SingletonSupplier;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockUse;

/**
 * What all locks of a {@link io.github.holdfast.LockTemplate} share: the backends, the
 * renewal, and the way to an orderly end.
 */
public final class LockEngine implements AutoCloseable {

	private final Supplier<LockBackend> backend;

	private final Function<String, @Nullable LockBackend> others;

	private final Map<LockBackend, KnownBackend> known = new ConcurrentHashMap<>();

	private final Supplier<List<LockListener>> listeners;

	private final Supplier<List<LockRule>> rules;

	private final Supplier<Boolean> listenersMayBlock;

	private final ScheduledThreadPoolExecutor timer = LockRenewal.timer();

	/** Ends by itself, so that nothing that is still to be told is lost. */
	private final ScheduledThreadPoolExecutor listenerThread = LockThreads.scheduler("holdfast-listener", 1);

	private final OpenCalls openCalls = new OpenCalls();

	private final AtomicInteger calls = new AtomicInteger();

	private CompletableFuture<Void> drained = new CompletableFuture<>();

	private volatile boolean draining;

	private volatile boolean closed;

	/**
	 * Create an engine.
	 * @param backend supplies the backend, at the first call
	 * @param others gives the backend of the locks of one name, or {@code null} for that
	 * of all others; is asked at each call
	 * @param listeners supplies the listeners and rules, at the first call
	 */
	public LockEngine(Supplier<LockBackend> backend, Function<String, @Nullable LockBackend> others,
			Supplier<List<LockListener>> listeners) {
		this.backend = SingletonSupplier.of(backend);
		this.others = others;
		Supplier<List<LockListener>> all = SingletonSupplier.of(listeners);
		this.listeners = SingletonSupplier
			.of(() -> all.get().stream().filter((listener) -> !(listener instanceof LockRule)).toList());
		this.listenersMayBlock = SingletonSupplier
			.of(() -> !this.listeners.get().stream().allMatch(LockListener.NonBlocking.class::isInstance));
		this.rules = SingletonSupplier
			.of(() -> all.get().stream().filter(LockRule.class::isInstance).map(LockRule.class::cast).toList());
	}

	private KnownBackend know(LockBackend backend) {
		return KnownBackend.of(backend, this.rules.get(), this.timer);
	}

	/**
	 * The backend that keeps the locks of a name.
	 */
	private KnownBackend backend(LockSpec spec) {
		LockBackend other = this.others.apply(spec.name());
		LockBackend backend = (other != null) ? other : this.backend.get();
		return this.known.computeIfAbsent(backend, this::know);
	}

	/**
	 * Calls a body under its locks.
	 * @param <T> the type of the result
	 * @param <E> what the body throws
	 * @param keys the keys, at least one
	 * @param spec how to ask for them
	 * @param body the code to call; several times if the locks are optimistic, and twice
	 * if its transaction could not claim them
	 * @return what the body returned
	 * @throws E what the body threw
	 */
	@SuppressWarnings("try")
	public <T extends @Nullable Object, E extends Throwable> T execute(Collection<String> keys, LockSpec spec,
			Body<T, E> body) throws E {
		if (spec.mode() == LockRequest.Mode.OPTIMISTIC) {
			return new OptimisticCall(this, spec, keys).run(body);
		}
		BodyTransaction transaction = spec.body().transaction();
		if (transaction != null && !backend(spec).canClaim()) {
			transaction.neverClaims();
		}
		long start = System.nanoTime();
		boolean mayClaim = transaction != null && transaction.mayClaim();
		LockCall claiming = acquire(backend(spec), keys, spec, mayClaim, start, null);
		try (LockCall call = claiming) {
			return body.call();
		}
		catch (ClaimRefusedException ex) {
			if (!ex.isOf(claiming)) {
				throw ex;
			}
		}
		try (LockCall call = acquire(backend(spec), keys, spec, false, start, claiming.openEvents())) {
			return body.call();
		}
	}

	/**
	 * Acquires the locks of a call.
	 * @param keys the keys, at least one
	 * @param spec how to ask for them
	 * @return the call, which is to be closed
	 */
	public LockCall acquire(Collection<String> keys, LockSpec spec) {
		return acquire(keys, spec, System.nanoTime());
	}

	/**
	 * Acquire the locks of a call whose body's transaction does not claim them.
	 * @param start when the wait time has begun
	 */
	LockCall acquire(Collection<String> keys, LockSpec spec, long start) {
		return acquire(backend(spec), keys, spec, false, start, null);
	}

	private LockCall acquire(KnownBackend backend, Collection<String> keys, LockSpec spec, boolean mayClaim, long start,
			@Nullable LockEvents begun) {
		LockCapabilities.check(backend.backend(), spec);
		return new LockAcquisition(this, backend, spec, keys, mayClaim, start).run(begun);
	}

	/**
	 * Checks that the backend can do what is asked for.
	 * @param spec what is asked for
	 * @throws UnsupportedOperationException if it cannot
	 * @throws IllegalArgumentException if nobody could
	 */
	public void checkSupported(LockSpec spec) {
		LockCapabilities.check(backend(spec).backend(), spec);
	}

	List<LockListener> listeners() {
		return this.listeners.get();
	}

	/**
	 * The thread that tells what no call waits for, or {@code null} if no listener may
	 * block.
	 */
	@Nullable ScheduledThreadPoolExecutor listenerThread() {
		return this.listenersMayBlock.get() ? this.listenerThread : null;
	}

	List<LockRule> rules() {
		return this.rules.get();
	}

	/**
	 * Wait before another attempt.
	 * @return why the wait was ended early, or {@code null}
	 */
	LockNotAcquiredException.@Nullable Reason pause(LockSpec spec, Duration time) {
		return this.openCalls.pause(spec, time, () -> this.draining);
	}

	/**
	 * Stops all waiting.
	 * @return completes when the last lock has been released
	 */
	public CompletionStage<Void> drain() {
		CompletableFuture<Void> drained;
		synchronized (this) {
			this.draining = true;
			drained = this.drained;
		}
		this.openCalls.cancelWaits();
		completeIfDrained();
		return drained;
	}

	/**
	 * Lets calls wait again, unless this engine has been closed. Who awaits the end of a
	 * drain that is taken back by this need not wait any longer.
	 */
	public void resume() {
		CompletableFuture<Void> drained;
		synchronized (this) {
			if (!this.draining || this.closed) {
				return;
			}
			this.draining = false;
			drained = this.drained;
			this.drained = new CompletableFuture<>();
		}
		LockOwner.forgetProcess();
		drained.complete(null);
	}

	/**
	 * What the calls of this JVM hold and wait for. Tells one moment for each call, but
	 * not the same for all.
	 * @return one entry for each key
	 */
	public List<LockUse> uses() {
		return this.openCalls.uses();
	}

	OpenCalls openCalls() {
		return this.openCalls;
	}

	boolean isDraining() {
		return this.draining;
	}

	boolean isClosed() {
		return this.closed;
	}

	void callBegins() {
		this.calls.incrementAndGet();
	}

	void callEnded() {
		this.calls.decrementAndGet();
		completeIfDrained();
	}

	private void completeIfDrained() {
		if (!this.draining) {
			return;
		}
		CompletableFuture<Void> drained;
		synchronized (this) {
			if (!this.draining || this.calls.get() > 0) {
				return;
			}
			drained = this.drained;
			// For those who ask when other calls have begun
			this.drained = new CompletableFuture<>();
		}
		drained.complete(null);
	}

	@Override
	public void close() {
		synchronized (this) {
			this.closed = true;
		}
		drain().toCompletableFuture().complete(null);
		this.timer.shutdownNow();
		this.known.values().forEach((backend) -> backend.renewal().close());
	}

	/**
	 * Code that runs under locks.
	 *
	 * @param <T> the type of the result
	 * @param <E> what it throws
	 */
	@FunctionalInterface
	public interface Body<T extends @Nullable Object, E extends Throwable> {

		/**
		 * Does the work.
		 * @return the result
		 * @throws E on failure
		 */
		T call() throws E;

	}

}
