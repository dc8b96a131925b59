package io.github.holdfast.core;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockUse;

/**
 * The calls of this JVM that wait for locks or hold them, so that all that wait can be
 * told to stop, and people can be told of all. A call is noted once, when it begins.
 */
final class OpenCalls {

	private final Set<Entry> calls = ConcurrentHashMap.newKeySet();

	/**
	 * Note a call of the current thread.
	 * @param spec how it asks for its locks
	 * @param start when its wait has begun
	 */
	Entry begin(LockSpec spec, long start) {
		Entry entry = new Entry(spec, start);
		this.calls.add(entry);
		return entry;
	}

	/**
	 * Let the current thread wait for some time, or not at all during a shutdown.
	 * @param spec the locks that it will ask for then
	 * @param time how long
	 * @param shutdown whether the application shuts down
	 * @return why the wait was ended early, or {@code null}
	 */
	LockNotAcquiredException.@Nullable Reason pause(LockSpec spec, Duration time, BooleanSupplier shutdown) {
		Entry entry = begin(spec, System.nanoTime());
		entry.beginWait(null, List.of());
		boolean interrupted = false;
		boolean cancelled;
		try {
			if (!shutdown.getAsBoolean()) {
				TimeUnit.NANOSECONDS.sleep(time.toNanos());
			}
		}
		catch (InterruptedException ex) {
			interrupted = true;
		}
		finally {
			cancelled = entry.endWait();
			entry.end();
		}
		if (interrupted && !cancelled) {
			Thread.currentThread().interrupt();
		}
		if (cancelled || shutdown.getAsBoolean()) {
			return LockNotAcquiredException.Reason.SHUTDOWN;
		}
		return interrupted ? LockNotAcquiredException.Reason.INTERRUPTED : null;
	}

	/**
	 * Interrupt all threads that wait now.
	 */
	void cancelWaits() {
		this.calls.forEach(Entry::cancelWait);
	}

	/**
	 * What is held and waited for now.
	 */
	List<LockUse> uses() {
		return this.calls.stream().map(Entry::uses).flatMap(List::stream).toList();
	}

	/**
	 * One call.
	 */
	final class Entry {

		private final LockSpec spec;

		private final Thread thread = Thread.currentThread();

		private final long start;

		private boolean waiting;

		private boolean cancelled;

		private @Nullable String awaited;

		private List<HeldLease> acquired = List.of();

		private volatile @Nullable LockCall call;

		private Entry(LockSpec spec, long start) {
			this.spec = spec;
			this.start = start;
		}

		/**
		 * Note that the thread begins to wait.
		 * @param key the key, or {@code null} if it waits for none
		 * @param acquired the leases that it has acquired for other keys
		 */
		synchronized void beginWait(@Nullable String key, List<HeldLease> acquired) {
			this.waiting = true;
			this.cancelled = false;
			this.awaited = key;
			this.acquired = acquired.isEmpty() ? List.of() : List.copyOf(acquired);
		}

		private synchronized void cancelWait() {
			if (this.waiting && !this.cancelled) {
				this.cancelled = true;
				this.thread.interrupt();
			}
		}

		/**
		 * Note that the wait is over, and take back an interrupt that was ours.
		 * @return whether the wait was cancelled
		 */
		synchronized boolean endWait() {
			this.waiting = false;
			if (this.cancelled) {
				Thread.interrupted();
			}
			return this.cancelled;
		}

		/**
		 * Note that the call has all of its locks.
		 */
		void holds(LockCall call) {
			this.call = call;
		}

		/**
		 * Forget the call.
		 */
		void end() {
			OpenCalls.this.calls.remove(this);
		}

		/**
		 * The one of each object would have to be made by the JVM each time.
		 */
		@Override
		public int hashCode() {
			return Long.hashCode(this.start);
		}

		@Override
		public boolean equals(@Nullable Object other) {
			return this == other;
		}

		private List<LockUse> uses() {
			LockCall call = this.call;
			return (call != null) ? held(call) : awaited();
		}

		private List<LockUse> held(LockCall call) {
			if (!call.isHeld()) {
				return List.of();
			}
			Duration holdTime = call.holdTime();
			Duration waitTime = sinceStart().minus(holdTime);
			return call.acquired().stream().map((lease) -> use(lease, waitTime, holdTime)).toList();
		}

		private synchronized List<LockUse> awaited() {
			List<LockUse> uses = new ArrayList<>();
			this.acquired.forEach((lease) -> uses.add(use(lease, sinceStart(), null)));
			String key = this.awaited;
			if (this.waiting && key != null) {
				uses.add(awaited(key));
			}
			return uses;
		}

		private LockUse awaited(String key) {
			return new LockUse(this.spec.name(), key, this.spec.storedKey(key), this.spec.mode(), this.thread.getName(),
					sinceStart(), null, null);
		}

		private LockUse use(HeldLease held, Duration waitTime, @Nullable Duration holdTime) {
			if (held.lease().isPending()) {
				return awaited(held.key());
			}
			return new LockUse(this.spec.name(), held.key(), held.lease().key(), this.spec.mode(),
					this.thread.getName(), waitTime, holdTime, held.lease());
		}

		private Duration sinceStart() {
			return Duration.ofNanos(System.nanoTime() - this.start);
		}

	}

}
