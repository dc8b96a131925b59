package io.github.holdfast.benchmarks.contender;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;

import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * A lock of ShedLock in Redis. ShedLock waits for nobody, so it is tried again and again
 * here.
 */
final class ShedLockClient implements LockClient {

	private static final Duration LEASE_TIME = Duration.ofSeconds(30);

	private static final Duration PAUSE = Duration.ofMillis(1);

	private final LockProvider provider;

	ShedLockClient(RedisConnectionFactory redis) {
		this.provider = new RedisLockProvider(redis, "benchmark");
	}

	@Override
	public void run(String key, Runnable body) {
		SimpleLock lock = lock(key);
		try {
			body.run();
		}
		finally {
			lock.unlock();
		}
	}

	private SimpleLock lock(String key) {
		Optional<SimpleLock> lock = Optional.empty();
		while ((lock = this.provider.lock(new LockConfiguration(Instant.now(), key, LEASE_TIME, Duration.ZERO)))
			.isEmpty()) {
			LockSupport.parkNanos(PAUSE.toNanos());
		}
		return lock.get();
	}

}
