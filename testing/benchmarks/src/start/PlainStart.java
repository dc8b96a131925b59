package io.github.holdfast.benchmarks.start;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
class PlainStart {

	public static void main(String[] args) {
		Start.run(PlainStart.class, args);
	}

	@Bean
	Runnable job(RedisConnectionFactory redis) {
		return () -> {
			try (RedisConnection connection = redis.getConnection()) {
				connection.ping();
			}
		};
	}

}
