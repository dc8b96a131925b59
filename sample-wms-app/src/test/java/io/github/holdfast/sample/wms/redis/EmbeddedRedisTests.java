package io.github.holdfast.sample.wms.redis;

import java.net.ConnectException;
import java.net.Socket;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;

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

}
