package io.github.holdfast.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.ReturnType;

import io.github.holdfast.support.Polling;

/**
 * Any client of Spring Data Redis, with a connection for each script. Waiters poll.
 */
final class BlockingDriver implements RedisDriver {

	private static final Polling POLLING = new Polling(Duration.ofMillis(5), Duration.ofMillis(100));

	private final RedisConnectionFactory factory;

	BlockingDriver(RedisConnectionFactory factory) {
		this.factory = factory;
	}

	@Override
	public CompletableFuture<List<Object>> run(LockScript script, byte[][] keys, byte[][] args) {
		byte[][] all = new byte[keys.length + args.length][];
		System.arraycopy(keys, 0, all, 0, keys.length);
		System.arraycopy(args, 0, all, keys.length, args.length);
		try (RedisConnection connection = this.factory.getConnection()) {
			return CompletableFuture.completedFuture(run(connection, script, keys.length, all));
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	private static List<Object> run(RedisConnection connection, LockScript script, int keys, byte[][] all) {
		try {
			return answer(connection.scriptingCommands().evalSha(script.digest(), ReturnType.MULTI, keys, all));
		}
		catch (RuntimeException ex) {
			if (!isNoScript(ex)) {
				throw ex;
			}
			return answer(connection.scriptingCommands().eval(script.text(), ReturnType.MULTI, keys, all));
		}
	}

	private static List<Object> answer(List<Object> answer) {
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
	public boolean isCluster() {
		try (RedisConnection connection = this.factory.getConnection()) {
			return connection instanceof RedisClusterConnection;
		}
	}

}
