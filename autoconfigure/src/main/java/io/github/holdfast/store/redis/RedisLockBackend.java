package io.github.holdfast.store.redis;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.redisson.api.RedissonClient;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.util.function.SingletonSupplier;

import io.github.holdfast.LockHolder;
import io.github.holdfast.LockRequest;
import io.github.holdfast.ManageableLockBackend;
import io.github.holdfast.store.Polling;

/**
 * Locks in Redis 6.2 or later: a single server, Sentinel or Cluster, through Lettuce or
 * Redisson. A held lock is one key that expires with its lease.
 *
 * <p>
 * By default, waiters have no order. A message wakes them when the lock is released; they
 * poll twice a second in case a message is lost. Fair waiters queue in Redis, and each
 * release wakes the first of them. A fair waiter that does not ask for two seconds of
 * Redis' clock loses its place. Requests that are not fair do not respect the queue,
 * except those for a shared lock.
 *
 * <p>
 * An exclusive lock is an {@code RLock} of Redisson with the same name. Applications that
 * use Redisson without Holdfast exclude and wake this one, and vice versa. It also
 * excludes read locks of Redisson. Shared locks are Holdfast's own.
 *
 * <p>
 * The epoch follows the clock of Redis in microseconds, and rises by at least one with
 * each grant. It rises even if Redis loses its data, unless its clock goes back at the
 * same time.
 *
 * <p>
 * A master that fails before its replica has a lock loses the lock. Then two holders are
 * possible, and only the check at the commit protects the data.
 */
public final class RedisLockBackend implements ManageableLockBackend {

	private static final Polling POLLING = new Polling(Duration.ofMillis(20), Duration.ofMillis(500));

	private final RedisLocks locks;

	private final String name;

	private RedisLockBackend(Supplier<RedisDriver> driver, String name) {
		this.locks = new RedisLocks(SingletonSupplier.of(driver));
		this.name = name;
	}

	/**
	 * Create a backend that reaches Redis through Lettuce.
	 * @param connectionFactory supplies the connection factory at the first use; its
	 * shared connection is used
	 */
	public RedisLockBackend(Supplier<RedisConnectionFactory> connectionFactory) {
		this(() -> new LettuceDriver(RedisDriver.lettuce(connectionFactory.get())), "redis");
	}

	/**
	 * Create a backend that reaches Redis through Redisson. The locks are the same.
	 * @param client supplies the client at the first use; it is never shut down
	 * @return the backend
	 */
	public static RedisLockBackend redisson(Supplier<RedissonClient> client) {
		return new RedisLockBackend(() -> new RedissonDriver(client.get()), "redisson");
	}

	@Override
	public @Nullable Lease acquire(LockRequest request) throws InterruptedException {
		try (RedisAcquisition acquisition = new RedisAcquisition(this.locks, request)) {
			return POLLING.until(request.waitTime(), acquisition::attempt, acquisition::pause);
		}
	}

	@Override
	public @Nullable LockHolder holder(String key) {
		return holder(ask(LockScript.HOLDER, key, "looked up"));
	}

	static @Nullable LockHolder holder(List<Object> answer) {
		if (answer.get(0) == null) {
			return null;
		}
		long epoch = RedisLocks.number(answer, 1);
		long rest = RedisLocks.number(answer, 2);
		Instant expires = Instant.ofEpochMilli(RedisLocks.number(answer, 3) + rest);
		return new LockHolder(
				"held by " + RedisDriver.text(answer.get(0)) + ", whose lease is renewed or ends in " + rest + " ms",
				(epoch > 0) ? Instant.EPOCH.plus(epoch, ChronoUnit.MICROS) : null, expires, (epoch > 0) ? epoch : null);
	}

	@Override
	public boolean forceRelease(String key) {
		return RedisLocks.isYes(ask(LockScript.FORCE, key, "released by force"));
	}

	@Override
	public Status ping() {
		long micros = RedisLocks.number(ask(LockScript.PING, "holdfast:ping", "checked"), 0);
		return new Status(this.locks.driver().server(), Instant.EPOCH.plus(micros, ChronoUnit.MICROS));
	}

	private List<Object> ask(LockScript script, String key, String what) {
		return RedisLocks.await(this.locks.ask(script, key), key, what, this.locks.driver().server());
	}

	@Override
	public Set<Capability> capabilities() {
		return Set.of(Capability.SHARED, Capability.FAIR);
	}

	@Override
	public String name() {
		return this.name;
	}

}
