package io.github.holdfast.benchmarks.contender;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;

import org.springframework.beans.factory.annotation.Value;

import io.github.holdfast.store.redis.BareScripts;

/**
 * As {@link BareLockClient}, but with the scripts of Holdfast: what its client can reach
 * at best, as Redis has that to do.
 */
final class BareScriptsLockClient implements LockClient, AutoCloseable {

	private static final String LEASE_MILLIS = "30000";

	private static final String RETENTION_MILLIS = Long.toString(TimeUnit.DAYS.toMillis(8));

	private final String owner = ProcessHandle.current().pid() + ":";

	private final AtomicLong acquisitions = new AtomicLong();

	private final RedisClient client;

	private final RedisCommands<String, String> redis;

	private final String acquire;

	private final String release;

	BareScriptsLockClient(@Value("${spring.data.redis.port}") int port) {
		this.client = RedisClient.create(RedisURI.create("127.0.0.1", port));
		this.redis = this.client.connect().sync();
		this.acquire = this.redis.scriptLoad(BareScripts.ACQUIRE);
		this.release = this.redis.scriptLoad(BareScripts.RELEASE);
	}

	@Override
	public void run(String key, Runnable body) {
		String owner = this.owner + this.acquisitions.incrementAndGet();
		String[] keys = { "{" + key + "}", "{" + key + "}:epoch" };
		while (!acquire(keys, owner)) {
			LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
		}
		try {
			body.run();
		}
		finally {
			this.redis.evalsha(this.release, ScriptOutputType.MULTI, keys, owner, keys[0] + ":released");
		}
	}

	private boolean acquire(String[] keys, String owner) {
		List<Object> answer = this.redis.evalsha(this.acquire, ScriptOutputType.MULTI, keys, LEASE_MILLIS,
				RETENTION_MILLIS, owner, Thread.currentThread().getName(), "0");
		return (Long) answer.get(0) != 0;
	}

	@Override
	public void close() {
		this.client.shutdown();
	}

}
