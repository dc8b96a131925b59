package io.github.holdfast.benchmarks.contender;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.sync.RedisCommands;

import org.springframework.beans.factory.annotation.Value;

/**
 * The least that a lock in Redis can be: no token, no renewal, no order, and waiters that
 * try again after a millisecond.
 */
final class BareLockClient implements LockClient, AutoCloseable {

	private static final String RELEASE = """
			if redis.call('get', KEYS[1]) == ARGV[1] then
				return redis.call('del', KEYS[1])
			end
			return 0
			""";

	private static final SetArgs LEASE = SetArgs.Builder.nx().px(30_000);

	private final String owner = ProcessHandle.current().pid() + ":";

	private final AtomicLong acquisitions = new AtomicLong();

	private final RedisClient client;

	private final RedisCommands<String, String> redis;

	private final String release;

	BareLockClient(@Value("${spring.data.redis.port}") int port) {
		this.client = RedisClient.create(RedisURI.create("127.0.0.1", port));
		this.redis = this.client.connect().sync();
		this.release = this.redis.scriptLoad(RELEASE);
	}

	@Override
	public void run(String key, Runnable body) {
		String owner = this.owner + this.acquisitions.incrementAndGet();
		while (this.redis.set(key, owner, LEASE) == null) {
			LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
		}
		try {
			body.run();
		}
		finally {
			this.redis.evalsha(this.release, ScriptOutputType.INTEGER, new String[] { key }, owner);
		}
	}

	@Override
	public void close() {
		this.client.shutdown();
	}

}
