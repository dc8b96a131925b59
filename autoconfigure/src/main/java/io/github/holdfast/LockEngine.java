package io.github.holdfast;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.util.function.SingletonSupplier;

/**
 * What all locks of a {@link LockTemplate} share: the backend, the renewal, and the way
 * to an orderly end.
 */
final class LockEngine implements AutoCloseable {

	private final Supplier<LockBackend> backend;

	private final Supplier<List<LockListener>> listeners;

	private final Supplier<Boolean> inThisJvm;

	private final LockRenewal renewal = new LockRenewal();

	private final LockWaits waits = new LockWaits();

	private final CleanUps cleanUps = new CleanUps();

	private final AtomicInteger held = new AtomicInteger();

	private CompletableFuture<Void> drained = new CompletableFuture<>();

	private volatile boolean draining;

	private volatile boolean closed;

	LockEngine(Supplier<LockBackend> backend, Supplier<List<LockListener>> listeners) {
		this.backend = SingletonSupplier.of(backend);
		this.listeners = SingletonSupplier.of(listeners);
		this.inThisJvm = SingletonSupplier
			.of(() -> this.backend.get().capabilities().contains(LockBackend.Capability.IN_PROCESS));
	}

	LockScope acquire(Collection<String> keys, LockSettings settings) {
		return acquire(keys, settings, System.nanoTime());
	}

	/**
	 * Acquire the locks of a call.
	 * @param start when the wait time has begun
	 */
	LockScope acquire(Collection<String> keys, LockSettings settings, long start) {
		checkSupported(settings);
		return new LockAcquisition(this, this.backend.get(), this.listeners.get(), settings, keys, start).run();
	}

	void checkSupported(LockSettings settings) {
		LockCapabilities.check(this.backend.get(), settings);
	}

	/**
	 * Wait before another attempt.
	 * @return why the wait was ended early, or {@code null}
	 */
	LockNotAcquiredException.@Nullable Reason pause(Duration time) {
		return this.waits.pause(time, () -> this.draining);
	}

	/**
	 * Stop waiting, and tell when the last lock has been released.
	 */
	CompletionStage<Void> drain() {
		CompletableFuture<Void> drained;
		synchronized (this) {
			this.draining = true;
			drained = this.drained;
		}
		this.waits.cancel();
		completeIfDrained();
		return drained;
	}

	/**
	 * Let calls wait again, unless this engine has been closed. Who awaits the end of a
	 * drain that is taken back by this need not wait any longer.
	 */
	void resume() {
		CompletableFuture<Void> drained;
		synchronized (this) {
			if (!this.draining || this.closed) {
				return;
			}
			this.draining = false;
			drained = this.drained;
			this.drained = new CompletableFuture<>();
		}
		drained.complete(null);
	}

	LockWaits.Wait beginWait() {
		return this.waits.begin();
	}

	LockRenewal.Call renewal(LockBackend backend) {
		return this.renewal.call(backend);
	}

	AcquiredLease acquired(String key, LockLease lease, LockSettings settings, LockRenewal.Call call) {
		return new AcquiredLease(key, lease, settings, this.renewal, call);
	}

	String nextOwner() {
		return this.inThisJvm.get() ? LockOwner.nextLocal() : LockOwner.next();
	}

	CleanUps cleanUps() {
		return this.cleanUps;
	}

	boolean isDraining() {
		return this.draining;
	}

	boolean isClosed() {
		return this.closed;
	}

	void scopeBegins() {
		this.held.incrementAndGet();
	}

	void scopeEnded() {
		this.held.decrementAndGet();
		completeIfDrained();
	}

	private void completeIfDrained() {
		if (!this.draining) {
			return;
		}
		CompletableFuture<Void> drained;
		synchronized (this) {
			if (!this.draining || this.held.get() > 0) {
				return;
			}
			drained = this.drained;
		}
		drained.complete(null);
	}

	@Override
	public void close() {
		synchronized (this) {
			this.closed = true;
		}
		drain().toCompletableFuture().complete(null);
		this.renewal.close();
	}

}
