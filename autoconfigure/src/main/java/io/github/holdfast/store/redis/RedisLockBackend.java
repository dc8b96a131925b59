package io.github.holdfast.store.redis;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.redisson.api.RedissonClient;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.core.LockConfigurationException;
import io.github.holdfast.store.Answers;
import io.github.holdfast.store.Deadline;

/**
 * Locks in Redis 6.2 or later: a single server, Sentinel or Cluster. A held lock is one
 * key that expires with its lease; each step is one script.
 *
 * <p>
 * Waiters are woken by a message when the lock is released and poll only as a net under
 * it, and a release need not be waited for. Lettuce and Redisson have the same locks.
 *
 * <p>
 * By default waiters have no order. Fair ones queue in Redis; one that is not heard of
 * for five seconds of Redis' clock loses its place. Fair requests do not pass each other,
 * but others for the same key pass them. Whoever waits for those who share a lock queues
 * there, too, and whoever wants to share it does not pass the queue.
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
 * @since 0.2.0
 */
public final class RedisLockBackend implements LockBackend, AutoCloseable {

	static final Duration COUNTER_RETENTION = Duration.ofDays(1);

	/** Of a Cluster, where to ask besides the place of a key. */
	private static final int OTHER_PLACES = 6;

	private final RedisLocks locks;

	private final String name;

	/**
	 * Create a backend.
	 * @param connectionFactory supplies the connection to Redis, at the first use: that
	 * of Lettuce, which all threads share
	 */
	public RedisLockBackend(Supplier<RedisConnectionFactory> connectionFactory) {
		this(connectionFactory, COUNTER_RETENTION);
	}

	/**
	 * Create a backend.
	 * @param connectionFactory supplies the connection to Redis, at the first use
	 * @param counterRetention how long the last epoch of a key is kept beyond its lease
	 */
	RedisLockBackend(Supplier<RedisConnectionFactory> connectionFactory, Duration counterRetention) {
		this(new RedisLocks(SingletonSupplier.of(() -> springDriver(connectionFactory.get())), counterRetention),
				"redis");
	}

	RedisLockBackend(RedisLocks locks, String name) {
		this.locks = locks;
		this.name = name;
	}

	/**
	 * Create a backend that reaches Redis through Redisson. It has the same locks.
	 * @param client supplies the client, which is never shut down, at the first use
	 * @return the backend
	 */
	public static RedisLockBackend redisson(Supplier<RedissonClient> client) {
		return redisson(client, COUNTER_RETENTION);
	}

	static RedisLockBackend redisson(Supplier<RedissonClient> client, Duration counterRetention) {
		return new RedisLockBackend(
				new RedisLocks(SingletonSupplier.of(() -> new RedissonDriver(client.get())), counterRetention),
				"redisson");
	}

	private static RedisDriver springDriver(RedisConnectionFactory factory) {
		boolean lettuce = ClassUtils.isPresent("io.lettuce.core.AbstractRedisClient",
				RedisLockBackend.class.getClassLoader());
		if (lettuce && factory instanceof LettuceConnectionFactory connections) {
			return new LettuceDriver(connections);
		}
		throw new LockConfigurationException(
				"The lock backend 'redis' needs Lettuce, but the application's RedisConnectionFactory is a "
						+ factory.getClass().getSimpleName() + ".",
				"Use Lettuce, Spring Boot's default ('spring.data.redis.client-type'), or define a RedissonClient "
						+ "and set 'holdfast.backend' to 'redisson'.");
	}

	RedisDriver driver() {
		return this.locks.driver();
	}

	@Override
	public @Nullable LockLease acquire(LockRequest request) throws InterruptedException {
		try (RedisAcquisition acquisition = new RedisAcquisition(this.locks, List.of(request))) {
			List<LockLease> leases = driver().polling()
				.until(request.waitTime(), acquisition::attempt, acquisition::pause);
			return (leases != null) ? leases.get(0) : null;
		}
	}

	@Override
	public @Nullable List<LockLease> acquireAll(List<LockRequest> sorted) {
		if (sorted.stream().anyMatch((request) -> request.fair() || request.mode() == LockRequest.Mode.SHARED)
				|| slots(sorted) > 1) {
			return null;
		}
		try (RedisAcquisition acquisition = new RedisAcquisition(this.locks, sorted)) {
			return acquisition.attempt(Deadline.after(sorted.get(0).waitTime()));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return null;
		}
	}

	private long slots(List<LockRequest> requests) {
		return requests.stream().map((request) -> driver().slot(LockKey.of(request.key()).lock())).distinct().count();
	}

	@Override
	public @Nullable LockHolder holder(String key) {
		return find(key).orElse(null);
	}

	private Optional<LockHolder> find(String key) {
		return RedisLocks.answer(key, "looked up", driver().server(), this.locks.holder(key));
	}

	@Override
	public Eviction evict(String key, String owner, long epoch) {
		boolean evicted = find(key).filter((holder) -> holder.isOf(owner, epoch)).isPresent()
				&& RedisLocks.answer(key, "taken away", driver().server(), this.locks.remove(key, owner));
		return evicted ? Eviction.EVICTED : Eviction.NOT_HELD;
	}

	/**
	 * Several servers of a Cluster, other ones each time, as one that fails has the locks
	 * of few keys.
	 */
	@Override
	public Status probe(String key) {
		CompletableFuture<Instant> any = Answers.any(probed(key).map(this.locks::time).toList());
		return new Status(driver().server(), RedisLocks.answer(key, "asked for", driver().server(), any));
	}

	private Stream<String> probed(String key) {
		if (driver().slot(LockKey.of(key).lock()) == 0) {
			return Stream.of(key);
		}
		return Stream.concat(Stream.of(key), ThreadLocalRandom.current().ints(OTHER_PLACES).mapToObj((n) -> key + n));
	}

	@Override
	public Duration noticeTime() {
		return driver().noticeTime();
	}

	@Override
	public Set<Capability> capabilities() {
		return Set.of(Capability.SHARED, Capability.FAIR, Capability.RELEASE_NOT_AWAITED);
	}

	/**
	 * Stops what is still tried again because Redis has failed.
	 */
	@Override
	public void close() {
		this.locks.close();
	}

	@Override
	public String name() {
		return this.name;
	}

	@Override
	public String toString() {
		return "backend '" + this.name + "'";
	}

}
