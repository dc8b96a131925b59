package io.github.holdfast.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.ClusterSlotHashUtil;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.util.Assert;
import org.springframework.util.function.SingletonSupplier;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.support.Deadline;

/**
 * Locks in Redis 6.2 or later: a single server, Sentinel or Cluster. A held lock is one
 * key that expires with its lease; each step is one script.
 *
 * <p>
 * With Lettuce, waiters are woken by a message when the lock is released and poll only as
 * a net under it, and a release need not be waited for. With other clients they poll.
 *
 * <p>
 * Only Redis' clock is used. The epoch is one more than the last one and never behind
 * that clock in microseconds. The last one is kept for a day after the lease, so that it
 * rises even if the clock goes back by less than that.
 *
 * <p>
 * A master that fails before it has told its replica about a lock loses it: then two
 * holders are possible, and only the check at the commit keeps the second from losing the
 * updates of the first.
 *
 * @since 0.1.0
 */
public final class RedisLockBackend implements LockBackend {

	private static final Duration COUNTER_RETENTION = Duration.ofDays(1);

	/** What Redis can add to its clock without an overflow. */
	private static final Duration MAX_LEASE_TIME = Duration.ofDays(10_000);

	/** Above, the numbers of Lua are not exact. */
	private static final long MAX_EPOCH = 1L << 53;

	private static final Duration MIN_TIMEOUT = Duration.ofSeconds(2);

	private static final Duration RELEASE_TIMEOUT = Duration.ofSeconds(5);

	private final Supplier<RedisDriver> driver;

	private final Duration counterRetention;

	/**
	 * Create a backend.
	 * @param connectionFactory supplies the way to Redis, at the first use
	 */
	public RedisLockBackend(Supplier<RedisConnectionFactory> connectionFactory) {
		this(connectionFactory, COUNTER_RETENTION);
	}

	/**
	 * Create a backend.
	 * @param connectionFactory supplies the way to Redis, at the first use
	 * @param counterRetention how long the last epoch of a key is kept beyond its lease
	 */
	RedisLockBackend(Supplier<RedisConnectionFactory> connectionFactory, Duration counterRetention) {
		this.driver = SingletonSupplier.of(() -> RedisDriver.of(connectionFactory.get()));
		this.counterRetention = counterRetention;
	}

	RedisDriver driver() {
		return this.driver.get();
	}

	@Override
	public @Nullable LockLease acquire(LockRequest request) throws InterruptedException {
		try (Acquisition acquisition = new Acquisition(List.of(request))) {
			List<LockLease> leases = driver().polling()
				.until(request.waitTime(), acquisition::attempt, acquisition::pause);
			return (leases != null) ? leases.get(0) : null;
		}
	}

	@Override
	public @Nullable List<LockLease> acquireAll(List<LockRequest> sorted) {
		if (driver().isCluster() && slots(sorted) > 1) {
			return null;
		}
		try (Acquisition acquisition = new Acquisition(sorted)) {
			return acquisition.attempt(Deadline.after(sorted.get(0).waitTime()));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return null;
		}
	}

	private static long slots(List<LockRequest> requests) {
		return requests.stream()
			.map((request) -> ClusterSlotHashUtil.calculateSlot(LockKey.of(request.key()).lock()))
			.distinct()
			.count();
	}

	boolean renew(LockRequest request, Duration leaseTime) {
		LockKey key = LockKey.of(request.key());
		CompletableFuture<List<Object>> answer = driver().run(LockScript.RENEW, key.keys(),
				new byte[][] { LockKey.bytes(request.owner()), LockKey.millis(checked(leaseTime)),
						LockKey.millis(leaseTime.plus(this.counterRetention)) });
		try {
			return number(awaitUninterruptibly(answer, atLeast(leaseTime.dividedBy(3))), 0) == 1;
		}
		catch (ExecutionException | TimeoutException ex) {
			answer.cancel(true);
			throw failed(request, "renewed", ex);
		}
	}

	CompletionStage<Boolean> release(LockRequest request) {
		LockKey key = LockKey.of(request.key());
		CompletableFuture<Boolean> released = new CompletableFuture<>();
		driver()
			.run(LockScript.RELEASE, key.keys(),
					new byte[][] { LockKey.bytes(request.owner()), LockKey.bytes(key.channel()) })
			.orTimeout(RELEASE_TIMEOUT.toNanos(), TimeUnit.NANOSECONDS)
			.whenComplete((answer, ex) -> {
				if (ex != null) {
					released.completeExceptionally(failed(request, "released", ex));
				}
				else {
					released.complete(number(answer, 0) == 1);
				}
			});
		return released;
	}

	@Override
	public @Nullable String holder(String key) {
		CompletableFuture<List<Object>> answer = driver().run(LockScript.HOLDER, LockKey.of(key).keys(),
				new byte[][] {});
		try {
			List<Object> holder = awaitUninterruptibly(answer, MIN_TIMEOUT);
			return (holder.get(0) instanceof byte[] text) ? "held by " + new String(text, StandardCharsets.UTF_8)
					+ ", whose lease is renewed or ends in " + number(holder, 1) + " ms" : null;
		}
		catch (ExecutionException | TimeoutException ex) {
			answer.cancel(true);
			return null;
		}
	}

	@Override
	public Set<Capability> capabilities() {
		return Set.of(Capability.RELEASE_NOT_AWAITED);
	}

	@Override
	public String toString() {
		return "backend 'redis'";
	}

	private static Duration checked(Duration leaseTime) {
		Assert.isTrue(leaseTime.compareTo(MAX_LEASE_TIME) <= 0,
				() -> "Lease time must not be longer than " + MAX_LEASE_TIME);
		return leaseTime;
	}

	private static Duration atLeast(Duration timeout) {
		return (timeout.compareTo(MIN_TIMEOUT) > 0) ? timeout : MIN_TIMEOUT;
	}

	private static long number(List<Object> answer, int index) {
		return ((Number) answer.get(index)).longValue();
	}

	private static <T> T awaitUninterruptibly(CompletableFuture<T> answer, Duration timeout)
			throws ExecutionException, TimeoutException {
		Deadline deadline = Deadline.after(timeout);
		boolean interrupted = false;
		try {
			while (true) {
				try {
					return answer.get(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
				}
				catch (InterruptedException ex) {
					interrupted = true;
				}
			}
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	private static LockBackendException failed(LockRequest request, String what, Throwable failure) {
		Throwable cause = (failure instanceof ExecutionException && failure.getCause() != null) ? failure.getCause()
				: failure;
		String reason = (cause instanceof TimeoutException) ? "Redis did not answer in time" : "Redis failed";
		return new LockBackendException(request.key(), "could not be " + what + ", " + reason, cause);
	}

	/**
	 * The attempts to get one or more locks.
	 */
	private final class Acquisition implements AutoCloseable {

		private final List<LockRequest> requests;

		private final byte[][] keys;

		private final byte[][] args;

		private long expiresInNanos;

		private @Nullable Signal signal;

		private Acquisition(List<LockRequest> requests) {
			this.requests = requests;
			Duration leaseTime = checked(leaseTime());
			List<byte[]> keys = new ArrayList<>();
			List<byte[]> args = new ArrayList<>();
			args.add(LockKey.millis(leaseTime));
			args.add(LockKey.millis(leaseTime.plus(RedisLockBackend.this.counterRetention)));
			for (LockRequest request : requests) {
				Assert.isTrue(request.minEpoch() < MAX_EPOCH, "Minimum epoch must be less than 2^53");
				keys.addAll(List.of(LockKey.of(request.key()).keys()));
				args.add(LockKey.bytes(request.owner()));
				args.add(LockKey.bytes(request.holder()));
				args.add(LockKey.bytes(Long.toString(request.minEpoch())));
			}
			this.keys = keys.toArray(byte[][]::new);
			this.args = args.toArray(byte[][]::new);
		}

		private Duration leaseTime() {
			return this.requests.get(0).leaseTime();
		}

		private @Nullable List<LockLease> attempt(Deadline deadline) throws InterruptedException {
			Deadline lease = Deadline.ofLease(leaseTime());
			CompletableFuture<List<Object>> answer = driver().run(LockScript.ACQUIRE, this.keys, this.args);
			try {
				return leases(answer.get(atLeast(deadline.remaining()).toNanos(), TimeUnit.NANOSECONDS), lease);
			}
			catch (InterruptedException ex) {
				abandon(answer, MIN_TIMEOUT);
				throw ex;
			}
			catch (ExecutionException | TimeoutException | CancellationException ex) {
				abandon(answer, Duration.ZERO);
				throw failed(this.requests.get(0), "acquired", ex);
			}
		}

		private @Nullable List<LockLease> leases(List<Object> answer, Deadline deadline) {
			if (number(answer, 0) == 0) {
				this.expiresInNanos = TimeUnit.MILLISECONDS.toNanos(number(answer, 1) + 1);
				return null;
			}
			List<LockLease> leases = new ArrayList<>(this.requests.size());
			for (int i = 0; i < this.requests.size(); i++) {
				leases
					.add(new RedisLockLease(RedisLockBackend.this, this.requests.get(i), number(answer, i), deadline));
			}
			return leases;
		}

		/**
		 * Take back what Redis may have granted although its answer was lost. Clients
		 * keep the order of what they send.
		 */
		private void abandon(CompletableFuture<List<Object>> answer, Duration timeout) {
			answer.cancel(true);
			CompletableFuture<?>[] releases = this.requests.stream()
				.map((request) -> release(request).toCompletableFuture())
				.toArray(CompletableFuture<?>[]::new);
			try {
				awaitUninterruptibly(CompletableFuture.allOf(releases), timeout);
			}
			catch (ExecutionException | TimeoutException ex) {
				// The lock runs out by itself
			}
		}

		/**
		 * Wait until the lock is released, but not beyond the end of its lease.
		 */
		private void pause(long nanos) throws InterruptedException {
			if (this.signal == null) {
				this.signal = driver().listen(LockKey.of(this.requests.get(0).key()).channel());
			}
			this.signal.await((this.expiresInNanos > 0) ? Math.min(nanos, this.expiresInNanos) : nanos);
		}

		@Override
		public void close() {
			if (this.signal != null) {
				this.signal.close();
			}
		}

	}

}
