package io.github.holdfast.benchmarks.contender;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * A {@link ReentrantLock} for each key, which is kept for ever and reaches no other JVM.
 */
final class ReentrantLockClient implements LockClient {

	private final ConcurrentHashMap<String, ReentrantLock> locks = new ConcurrentHashMap<>();

	private final boolean fair;

	private ReentrantLockClient(boolean fair) {
		this.fair = fair;
	}

	@Override
	public void run(String key, Runnable body) {
		ReentrantLock lock = this.locks.computeIfAbsent(key, (k) -> new ReentrantLock(this.fair));
		lock.lock();
		try {
			body.run();
		}
		finally {
			lock.unlock();
		}
	}

	@Configuration(proxyBeanMethods = false)
	static class Fair {

		@Bean
		LockClient reentrantLock() {
			return new ReentrantLockClient(true);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Unfair {

		@Bean
		LockClient reentrantLock() {
			return new ReentrantLockClient(false);
		}

	}

}
