package io.github.holdfast.redisson;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.redisson.api.RedissonClient;

import org.springframework.util.function.SingletonSupplier;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;

/**
 * Locks in Redis 6.2 or later through the application's {@link RedissonClient}, whatever
 * servers it is configured for. The client is never shut down.
 *
 * <p>
 * A lock is an {@code RLock} whose holder is one acquisition instead of a thread. Its
 * lease is always given, so that Redisson's watchdog is not used: the renewal and the
 * epoch are scripts, which check first that this holder still holds the lock.
 *
 * <p>
 * Waiters are woken by a message when the lock is released and poll as a net under it. By
 * default they have no order. Fair ones queue in Redis; one that is not heard of for five
 * seconds of Redis' clock loses its place. Fair requests do not pass each other, but
 * others for the same key pass them.
 *
 * <p>
 * A master that fails before it has told its replica about a lock loses it: then two
 * holders are possible, and only the check at the commit keeps the second from losing the
 * updates of the first.
 *
 * @since 0.1.0
 */
public final class RedissonLockBackend implements LockBackend, AutoCloseable {

	private static final Duration COUNTER_RETENTION = Duration.ofDays(1);

	/** So that others need not wait for long until a connection is free. */
	private static final int RENEWED_TOGETHER = 100;

	private static final Set<Capability> CAPABILITIES = Set.of(Capability.FAIR, Capability.RELEASE_NOT_AWAITED);

	private final RedissonLocks locks;

	/**
	 * Create a backend.
	 * @param client supplies the client, at the first use
	 */
	public RedissonLockBackend(Supplier<RedissonClient> client) {
		this(client, COUNTER_RETENTION);
	}

	/**
	 * Create a backend.
	 * @param client supplies the client, at the first use
	 * @param counterRetention how long the last epoch of a key is kept beyond its lease
	 */
	RedissonLockBackend(Supplier<RedissonClient> client, Duration counterRetention) {
		this.locks = new RedissonLocks(SingletonSupplier.of(client), counterRetention);
	}

	@Override
	public @Nullable LockLease acquire(LockRequest request) throws InterruptedException {
		try (RedissonAcquisition acquisition = new RedissonAcquisition(this.locks, this.locks.holder(request))) {
			return this.locks.polling().until(request.waitTime(), acquisition::attempt, acquisition::pause);
		}
	}

	@Override
	public List<CompletionStage<Boolean>> renewAll(List<LockLease> leases, Duration leaseTime) {
		return RedissonLockLease.renewAll(leases, leaseTime);
	}

	/**
	 * The client sends what has no connection yet as soon as there is one.
	 */
	@Override
	public int renewedTogether() {
		return RENEWED_TOGETHER;
	}

	@Override
	public @Nullable LockHolder holder(String key) {
		try {
			List<Object> holder = Answers.await(this.locks.holder(key), Duration.ZERO);
			long remaining = (Long) holder.get(0);
			return (remaining > 0)
					? LockHolder.described(
							"held by " + holder.get(1) + ", whose lease is renewed or ends in " + remaining + " ms")
					: null;
		}
		catch (ExecutionException | TimeoutException ex) {
			return null;
		}
	}

	@Override
	public Duration noticeTime() {
		return this.locks.noticeTime();
	}

	@Override
	public Set<Capability> capabilities() {
		return CAPABILITIES;
	}

	/**
	 * Stops what is still tried again because Redis has failed. The client stays open.
	 */
	@Override
	public void close() {
		this.locks.close();
	}

	@Override
	public String toString() {
		return "backend 'redisson'";
	}

}
