package io.github.holdfast.store.local;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockHolder;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockRequest;
import io.github.holdfast.ManageableLockBackend;
import io.github.holdfast.store.Polling.Deadline;

/**
 * Locks between the threads of this JVM: for development, tests and applications that run
 * on one node. Waiters are served in the order of their arrival. Leases do not expire.
 * All instances in a JVM share their locks.
 */
public final class LocalLockBackend implements ManageableLockBackend {

	/** The places of each key in the order of their arrival. Guarded by itself. */
	private static final Map<String, List<Place>> queues = new HashMap<>();

	/** Begins at the wall clock, so that epochs rise across restarts. */
	private static long lastEpoch = TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis());

	@Override
	public @Nullable Lease acquire(LockRequest request) throws InterruptedException {
		if (Thread.interrupted()) {
			throw new InterruptedException();
		}
		Deadline deadline = Deadline.after(request.waitTime());
		synchronized (queues) {
			Place place = new Place(request, ++lastEpoch, System.nanoTime());
			queues.computeIfAbsent(request.key(), (key) -> new ArrayList<>(1)).add(place);
			boolean holds = place.isHolder();
			try {
				while (!holds && !deadline.hasPassed()) {
					TimeUnit.NANOSECONDS.timedWait(queues, deadline.remainingNanos());
					holds = place.isHolder();
				}
			}
			finally {
				if (!holds) {
					place.leave();
				}
			}
			return holds ? place : null;
		}
	}

	@Override
	public @Nullable LockHolder holder(String key) {
		return holders(key).stream()
			.findFirst()
			.map((place) -> new LockHolder("held by " + place.request.owner().description(), null, null, place.epoch))
			.orElse(null);
	}

	private static List<Place> holders(String key) {
		synchronized (queues) {
			return queues.getOrDefault(key, List.of()).stream().filter(Place::isHolder).toList();
		}
	}

	/**
	 * The threads of the holders continue, and detect the loss when they check their
	 * lock.
	 */
	@Override
	public boolean forceRelease(String key) {
		return holders(key).stream().filter(Place::leave).count() > 0;
	}

	@Override
	public Status ping() {
		return new Status("the memory of this JVM", null);
	}

	@Override
	public Set<Capability> capabilities() {
		return Set.of(Capability.SHARED, Capability.FAIR);
	}

	@Override
	public String name() {
		return "local";
	}

	/**
	 * The place of a request in the queue of its key.
	 */
	private record Place(LockRequest request, long epoch, long sentAt) implements Lease {

		/**
		 * Whether no place in front of this one keeps the lock from it.
		 */
		boolean isHolder() {
			List<Place> queue = queues.getOrDefault(this.request.key(), List.of());
			return !queue.isEmpty() && queue.get(0) == this || this.request.mode() == LockMode.SHARED && queue.stream()
				.takeWhile((place) -> place != this)
				.allMatch((place) -> place.request.mode() == LockMode.SHARED);
		}

		boolean leave() {
			synchronized (queues) {
				boolean left = isAlive();
				queues.computeIfPresent(this.request.key(),
						(key, queue) -> (queue.remove(this) && queue.isEmpty()) ? null : queue);
				queues.notifyAll();
				return left;
			}
		}

		@Override
		public CompletionStage<Boolean> renew(Duration leaseTime) {
			return CompletableFuture.completedStage(isAlive());
		}

		@Override
		public CompletionStage<Boolean> release() {
			return CompletableFuture.completedStage(leave());
		}

		@Override
		public boolean isAlive() {
			synchronized (queues) {
				return queues.getOrDefault(this.request.key(), List.of()).contains(this);
			}
		}

		@Override
		public boolean expires() {
			return false;
		}

	}

}
