package io.github.holdfast.sample.wms.redis;

import java.net.ConnectException;
import java.net.Socket;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The Redis that starts and ends with the application.
 */
class EmbeddedRedisTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
		.withUserConfiguration(EmbeddedRedisConfiguration.class);

	@Test
	void startsAndEndsWithTheApplicationInItsProfile() {
		AtomicInteger port = new AtomicInteger();
		this.runner.withPropertyValues("spring.profiles.active=embedded-redis").run((context) -> {
			port.set(context.getBean(EmbeddedRedis.class).port());
			StringRedisTemplate redis = context.getBean(StringRedisTemplate.class);
			redis.opsForValue().set("A", "1");
			assertThat(redis.opsForValue().get("A")).isEqualTo("1");
		});
		assertThatExceptionOfType(ConnectException.class).isThrownBy(() -> new Socket("127.0.0.1", port.get()).close());
	}

	@Test
	void isNotThereWithoutItsProfile() {
		this.runner.run((context) -> assertThat(context).doesNotHaveBean(EmbeddedRedis.class));
	}

	@Test
	void startsAgainOnItsPortWhenItWasClosed() {
		int port;
		try (EmbeddedRedis redis = EmbeddedRedis.start()) {
			port = redis.port();
			assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> EmbeddedRedis.start(port))
				.withMessageContaining("Address already in use");
		}
		EmbeddedRedis.start(port).close();
	}

	@Test
	void knowsWhatAnotherOneKnewIfItIsStartedWithThat(@TempDir Path folder) {
		int port;
		byte[] snapshot;
		try (EmbeddedRedis redis = EmbeddedRedis.start()) {
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
