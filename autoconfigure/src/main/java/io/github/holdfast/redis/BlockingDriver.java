package io.github.holdfast.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.ClusterSlotHashUtil;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.ReturnType;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

import io.github.holdfast.support.Deadline;
import io.github.holdfast.support.Polling;

/**
 * Any client of Spring Data Redis, with a connection for each script. Waiters poll.
 */
final class BlockingDriver implements RedisDriver {

	static final Polling POLLING = new Polling(Duration.ofMillis(5), Duration.ofMillis(100));

	private final RedisConnectionFactory factory;

	/** Whether an interrupt can end nothing but the wait for a connection of the pool. */
	private final boolean interruptedInPoolOnly;

	private volatile @Nullable Boolean cluster;

	BlockingDriver(RedisConnectionFactory factory) {
		this.factory = factory;
		this.interruptedInPoolOnly = factory instanceof JedisConnectionFactory jedis && !jedis.isRedisClusterAware();
	}

	@Override
	public CompletableFuture<List<Object>> run(LockScript script, byte[][] keys, byte[][] args, Deadline patience) {
		try (RedisConnection connection = this.factory.getConnection()) {
			return CompletableFuture.completedFuture(run(connection, script, keys.length, all(keys, args)));
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(failure(ex));
		}
	}

	private static byte[][] all(byte[][] keys, byte[][] args) {
		byte[][] all = new byte[keys.length + args.length][];
		System.arraycopy(keys, 0, all, 0, keys.length);
		System.arraycopy(args, 0, all, keys.length, args.length);
		return all;
	}

	/**
	 * Clients wrap interrupts, and forget them.
	 */
	private Throwable failure(RuntimeException failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause instanceof InterruptedException) {
				Thread.currentThread().interrupt();
				return this.interruptedInPoolOnly ? cause : failure;
			}
		}
		return failure;
	}

	private static List<Object> run(RedisConnection connection, LockScript script, int keys, byte[][] all) {
		try {
			return list(connection.scriptingCommands().evalSha(script.digest(), ReturnType.MULTI, keys, all));
		}
		catch (RuntimeException ex) {
			if (!isNoScript(ex)) {
				throw ex;
			}
			return list(connection.scriptingCommands().eval(script.text(), ReturnType.MULTI, keys, all));
		}
	}

	private static List<Object> list(List<Object> answer) {
		return answer;
	}

	private static boolean isNoScript(Throwable failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause.getMessage() != null && cause.getMessage().contains("NOSCRIPT")) {
				return true;
			}
		}
		return false;
	}

	@Override
	public Signal listen(String channel) {
		return new Signal((signal) -> {
		});
	}

	@Override
	public Polling polling() {
		return POLLING;
	}

	@Override
	public int slot(String key) {
		return isCluster() ? ClusterSlotHashUtil.calculateSlot(key) : 0;
	}

	/**
	 * Also if that is not known: keys that are asked for one by one fail by themselves.
	 */
	private boolean isCluster() {
		Boolean cluster = this.cluster;
		if (cluster == null) {
			try (RedisConnection connection = this.factory.getConnection()) {
				cluster = connection instanceof RedisClusterConnection;
				this.cluster = cluster;
			}
			catch (RuntimeException ex) {
				failure(ex);
				return true;
			}
		}
		return cluster;
	}

}
