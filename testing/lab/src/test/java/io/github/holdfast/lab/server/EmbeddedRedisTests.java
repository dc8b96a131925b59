package io.github.holdfast.lab.server;

import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The Redis that the lab kills and starts again.
 */
class EmbeddedRedisTests {

	@Test
	void startsAgainOnItsPortWhenItWasClosed(@TempDir Path folder) {
		int port;
		try (EmbeddedRedis redis = EmbeddedRedis.start(folder)) {
			port = redis.port();
			assertThatExceptionOfType(IllegalStateException.class)
				.isThrownBy(() -> EmbeddedRedis.start(port, folder, null))
				.withMessageContaining("Address already in use");
		}
		EmbeddedRedis.start(port, folder, null).close();
	}

	@Test
	void knowsWhatAnotherOneKnewIfItIsStartedWithThat(@TempDir Path folder) {
		int port;
		byte[] snapshot;
		try (EmbeddedRedis redis = EmbeddedRedis.start(folder)) {
			port = redis.port();
			command(port, (commands) -> commands.set("A", "1"));
			snapshot = redis.snapshot();
			command(port, (commands) -> commands.set("B", "2"));
		}
		try (EmbeddedRedis redis = EmbeddedRedis.start(port, folder, snapshot)) {
			assertThat(command(redis.port(), (commands) -> commands.keys("*"))).isEqualTo(List.of("A"));
		}
	}

	private static Object command(int port, Function<RedisCommands<String, String>, Object> command) {
		try (RedisClient client = RedisClient.create("redis://127.0.0.1:" + port)) {
			return command.apply(client.connect().sync());
		}
	}

}
