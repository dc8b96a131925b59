package io.github.holdfast;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.util.function.SingletonSupplier;

/**
 * Acquires the locks of one call: what is held already is used, the rest is acquired in
 * sorted order within one wait budget, all or none.
 */
final class LockEngine implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(LockTemplate.class);

	private final Supplier<LockBackend> backend;

	private final Supplier<List<LockListener>> listeners;

	private final LockRenewal renewal = new LockRenewal();

	private final LockWaits waits = new LockWaits();

	private final AtomicInteger held = new AtomicInteger();

	private final CompletableFuture<Void> drained = new CompletableFuture<>();

	private volatile boolean draining;

	private volatile boolean closed;

	LockEngine(Supplier<LockBackend> backend, Supplier<List<LockListener>> listeners) {
		this.backend = SingletonSupplier.of(backend);
		this.listeners = SingletonSupplier.of(listeners);
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
		return new Acquisition(keys, settings, start).run();
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
		this.draining = true;
		this.waits.cancel();
		completeIfDrained();
		return this.drained;
	}

	private void scopeEnded() {
		this.held.decrementAndGet();
		completeIfDrained();
	}

	private void completeIfDrained() {
		if (this.draining && this.held.get() == 0) {
			this.drained.complete(null);
		}
	}

	@Override
	public void close() {
		this.closed = true;
		drain();
		this.drained.complete(null);
		this.renewal.close();
	}

	/**
	 * One attempt to get all keys of a call.
	 */
	private final class Acquisition {

		private final LockBackend backend = LockEngine.this.backend.get();

		private final List<LockListener> listeners = LockEngine.this.listeners.get();

		private final LockSettings settings;

		private final List<String> keys;

		private final List<LockLease> leases;

		private final List<LockRenewal.Task> acquired;

		private final long start;

		private Acquisition(Collection<String> keys, LockSettings settings, long start) {
			this.settings = settings;
			this.start = start;
			this.keys = (keys.size() == 1) ? List.copyOf(keys) : List.copyOf(new TreeSet<>(keys));
			this.leases = new ArrayList<>(this.keys.size());
			this.acquired = new ArrayList<>(this.keys.size());
		}

		private LockScope run() {
			List<String> missing = missing();
			announce(missing);
			LockEngine.this.held.incrementAndGet();
			try {
				acquireAll(missing);
				checkValid();
			}
			catch (RuntimeException | Error ex) {
				giveBack(ex);
				scopeEnded();
				throw ex;
			}
			LockScope scope = new LockScope(this.backend, this.settings, this.keys, this.leases, this.acquired,
					this.listeners, LockEngine.this::scopeEnded);
			scope.opened();
			return scope;
		}

		/**
		 * The store may have answered only when the lease was over, or have lost one key
		 * while another one was waited for.
		 */
		private void checkValid() {
			for (LockRenewal.Task renewal : this.acquired) {
				if (!renewal.lease().isValid()) {
					throw new LockBackendException(renewal.lease().key(),
							"was granted, but its lease was over before the method began", null);
				}
			}
		}

		private void announce(List<String> missing) {
			boolean reentry = missing.isEmpty();
			LockListener.Attempt attempt = new LockListener.Attempt(this.settings.name(), reentry ? this.keys : missing,
					this.settings.mode(), this.settings.propagation());
			for (LockListener listener : this.listeners) {
				if (reentry) {
					listener.beforeReentry(attempt);
				}
				else {
					listener.beforeAcquire(attempt);
				}
			}
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

		private void acquireAll(List<String> missing) {
			List<LockLease> atOnce = (missing.size() > 1) ? acquireAtOnce(missing) : null;
			int next = 0;
			for (String key : this.keys) {
				LockLease held = missing.contains(key) ? null : HeldLocks.find(this.backend, storedKey(key));
				if (held != null) {
					this.leases.add(held);
				}
				else {
					this.leases.add((atOnce != null) ? atOnce.get(next++) : acquire(key));
				}
			}
		}

		/**
		 * Several free keys may take one round trip.
		 */
		private @Nullable List<LockLease> acquireAtOnce(List<String> missing) {
			if (LockEngine.this.draining) {
				return null;
			}
			List<LockLease> leases = this.backend.acquireAll(missing.stream().map(this::request).toList());
			if (leases == null) {
				return null;
			}
			leases.forEach((lease) -> this.acquired.add(LockEngine.this.renewal.start(lease, this.settings)));
			if (LockEngine.this.closed) {
				throw notAcquired(missing.get(0), LockNotAcquiredException.Reason.SHUTDOWN, null, null);
			}
			logger.debug("{} locks acquired at once", leases.size());
			return leases;
		}

		private LockRequest request(String key) {
			return this.settings.request(storedKey(key), remainingWait(), LockOwner.next(), LockOwner.holder());
		}

		private LockLease acquire(String key) {
			LockLease lease = null;
			InterruptedException interrupt = null;
			LockWaits.Wait wait = LockEngine.this.waits.begin();
			boolean shutdown;
			try {
				if (!LockEngine.this.closed) {
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
			if (LockEngine.this.closed || (lease == null && (shutdown || LockEngine.this.draining))) {
				throw notAcquired(key, LockNotAcquiredException.Reason.SHUTDOWN, null, interrupt);
			}
			if (interrupt != null) {
				Thread.currentThread().interrupt();
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
				this.acquired.add(LockEngine.this.renewal.start(lease, this.settings));
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
					this.acquired.get(i).handOver().toCompletableFuture().join();
				}
				catch (RuntimeException ex) {
					cause.addSuppressed(ex);
				}
			}
		}

		/**
		 * Asked after the wait has been noted, so that no waiter misses the shutdown.
		 */
		private Duration remainingWait() {
			if (LockEngine.this.draining) {
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

}
