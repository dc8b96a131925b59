package io.github.holdfast.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockRequest;

/**
 * A store in memory that fails on demand and notes what it is asked for. Each one has
 * locks of its own. Waiters are served in the order of their arrival.
 */
final class TestLockBackend implements LockBackend {

	private static final Set<Capability> CAPABILITIES = Set.of(Capability.SHARED, Capability.FAIR,
			Capability.IN_PROCESS);

	/**
	 * Starts at the wall clock, so that tokens rise over restarts as well.
	 */
	private static final AtomicLong epochs = new AtomicLong(TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis()));

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition changed = this.lock.newCondition();

	/** Those who wait, in the order of their arrival. */
	private final List<LockRequest> waiting = new ArrayList<>();

	private final List<TestLease> grants = new ArrayList<>();

	/** Those of other holders, which the test has ordered. */
	private final List<TestLease> ordered = new ArrayList<>();

	/** The keys that the store was asked for. */
	private final List<String> attempts = new ArrayList<>();

	/** The keys that were waited for in vain. */
	private final List<String> refusals = new ArrayList<>();

	private final Set<String> lostAtNextCommit = new HashSet<>();

	private int commits;

	private Duration delay = Duration.ZERO;

	private boolean down;

	@Override
	public @Nullable LockLease acquire(LockRequest request) throws InterruptedException {
		long deadline = System.nanoTime() + nanos(request.waitTime());
		this.lock.lockInterruptibly();
		try {
			this.attempts.add(request.key());
			this.waiting.add(request);
			try {
				awaitAnswer();
				return await(request, deadline);
			}
			finally {
				this.waiting.remove(request);
				this.changed.signalAll();
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	private void awaitAnswer() throws InterruptedException {
		long left = nanos(this.delay);
		while (left > 0) {
			left = this.changed.awaitNanos(left);
		}
	}

	private @Nullable LockLease await(LockRequest request, long deadline) throws InterruptedException {
		while (true) {
			if (Thread.interrupted()) {
				throw new InterruptedException();
			}
			if (this.down) {
				throw down(request.key());
			}
			if (isFree(request)) {
				return grant(request);
			}
			long left = deadline - System.nanoTime();
			if (left <= 0) {
				this.refusals.add(request.key());
				return null;
			}
			this.changed.awaitNanos(left);
		}
	}

	/**
	 * For somebody who has waited long enough: nobody who keeps him out has the lock or
	 * has come earlier.
	 */
	private boolean isFree(LockRequest request) {
		if (this.grants.stream().anyMatch((grant) -> grant.state().isInStore() && grant.excludes(request))) {
			return false;
		}
		for (LockRequest earlier : this.waiting) {
			if (earlier == request) {
				return true;
			}
			if (earlier.key().equals(request.key())) {
				return false;
			}
		}
		return true;
	}

	private TestLease grant(LockRequest request) {
		long epoch = epochs.updateAndGet((last) -> Math.max(last + 1, request.minEpoch()));
		TestLease lease = new TestLease(this, request, epoch);
		this.grants.add(lease);
		return lease;
	}

	private static LockBackendException down(String key) {
		return new LockBackendException(key, "the store is down, as the test has ordered", null);
	}

	boolean renew(TestLease lease) {
		answer();
		return locked(() -> {
			if (this.down) {
				throw down(lease.key());
			}
			return lease.isValid();
		});
	}

	CompletionStage<Boolean> release(TestLease lease) {
		answer();
		return locked(() -> {
			if (!lease.state().isHeld()) {
				return CompletableFuture.completedStage(false);
			}
			if (this.down) {
				end(lease, TestLease.State.LEFT_BEHIND);
				return CompletableFuture.failedStage(down(lease.key()));
			}
			end(lease, TestLease.State.RELEASED);
			return CompletableFuture.completedStage(true);
		});
	}

	private void answer() {
		Duration delay = locked(() -> this.delay);
		long end = System.nanoTime() + nanos(delay);
		for (long left = nanos(delay); left > 0; left = end - System.nanoTime()) {
			LockSupport.parkNanos(this, left);
			if (Thread.currentThread().isInterrupted()) {
				return;
			}
		}
	}

	private void end(TestLease lease, TestLease.State state) {
		lease.state(state);
		this.changed.signalAll();
	}

	@Override
	public @Nullable LockHolder holder(String key) {
		return locked(() -> {
			if (this.down) {
				throw down(key);
			}
			return this.grants.stream()
				.filter((grant) -> grant.key().equals(key) && grant.state().isInStore())
				.findFirst()
				.map((grant) -> new LockHolder(grant.owner(), "held by " + grant.request().holder(), null, null,
						grant.epoch()))
				.orElse(null);
		});
	}

	@Override
	public Set<Capability> capabilities() {
		return CAPABILITIES;
	}

	/**
	 * The current thread is about to commit.
	 * @return what it holds, without what it was ordered to lose now
	 */
	List<TestLease> commitBegins() {
		Thread thread = Thread.currentThread();
		return locked(() -> {
			for (TestLease lease : held(thread)) {
				if (this.lostAtNextCommit.remove(lease.key())) {
					end(lease, TestLease.State.LOST);
				}
			}
			return held(thread);
		});
	}

	private List<TestLease> held(Thread thread) {
		return this.grants.stream().filter((grant) -> grant.state().isHeld() && grant.isOf(thread)).toList();
	}

	/**
	 * The current thread has committed.
	 * @param before what it held when the commit began
	 */
	void committed(List<TestLease> before) {
		locked(() -> {
			this.commits++;
			before.stream().filter((lease) -> lease.state().isHeld()).forEach(TestLease::committed);
			return true;
		});
	}

	// What a test orders

	void makeBusy(String key) {
		locked(() -> {
			LockRequest request = new LockRequest(key, "test", LockMode.EXCLUSIVE, false, Duration.ZERO,
					Duration.ofDays(1), UUID.randomUUID().toString(), "another holder, as the test has ordered", 0);
			if (this.grants.stream().anyMatch((grant) -> grant.state().isInStore() && grant.excludes(request))) {
				throw new IllegalStateException("Lock '" + key + "' is held already");
			}
			return this.ordered.add(grant(request));
		});
	}

	void free(String key) {
		endOrdered((lease) -> lease.key().equals(key));
	}

	private void endOrdered(Predicate<TestLease> which) {
		locked(() -> {
			List<TestLease> ended = this.ordered.stream().filter(which).toList();
			ended.forEach((lease) -> end(lease, TestLease.State.RELEASED));
			this.grants.removeAll(ended);
			return this.ordered.removeAll(ended);
		});
	}

	void loseAtNextCommit(String key) {
		locked(() -> this.lostAtNextCommit.add(key));
	}

	void delay(Duration delay) {
		locked(() -> this.delay = delay);
	}

	void down(boolean down) {
		locked(() -> {
			this.down = down;
			if (!down) {
				this.grants.stream()
					.filter((grant) -> grant.state() == TestLease.State.LEFT_BEHIND)
					.forEach((grant) -> end(grant, TestLease.State.RELEASED));
			}
			this.changed.signalAll();
			return down;
		});
	}

	/**
	 * Forget all orders and what has ended.
	 */
	void reset() {
		down(false);
		delay(Duration.ZERO);
		endOrdered((lease) -> true);
		locked(() -> {
			this.lostAtNextCommit.clear();
			this.attempts.clear();
			this.refusals.clear();
			this.commits = 0;
			return this.grants.removeIf((grant) -> !grant.state().isHeld());
		});
	}

	// What a test asks

	List<TestLease> grants(String key) {
		return locked(() -> this.grants.stream()
			.filter((grant) -> grant.key().equals(key) && !this.ordered.contains(grant))
			.toList());
	}

	List<String> attempts() {
		return locked(() -> List.copyOf(this.attempts));
	}

	List<String> refusals() {
		return locked(() -> List.copyOf(this.refusals));
	}

	int commits() {
		return locked(() -> this.commits);
	}

	private <T extends @Nullable Object> T locked(Supplier<T> action) {
		this.lock.lock();
		try {
			return action.get();
		}
		finally {
			this.lock.unlock();
		}
	}

	private static long nanos(Duration time) {
		return TimeUnit.NANOSECONDS.convert(time);
	}

	@Override
	public String toString() {
		return "backend of the test";
	}

}
