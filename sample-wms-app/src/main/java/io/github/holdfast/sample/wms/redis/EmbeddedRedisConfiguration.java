package io.github.holdfast.sample.wms.redis;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;

/**
 * Starts Redis with the application and points its client at it, in the profile
 * {@code embedded-redis}.
 */
@Configuration(proxyBeanMethods = false)
@Profile("embedded-redis")
class EmbeddedRedisConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(EmbeddedRedisConfiguration.class);

	@Bean
	EmbeddedRedis embeddedRedis() {
		EmbeddedRedis server = EmbeddedRedis.start();
		logger.info("Further nodes join with --spring.data.redis.port={} and the same backend", server.port());
		return server;
	}

	@Bean
	DataRedisConnectionDetails embeddedRedisConnectionDetails(EmbeddedRedis server) {
		return new ConnectionDetails(DataRedisConnectionDetails.Standalone.of("127.0.0.1", server.port()));
	}

	private record ConnectionDetails(Standalone getStandalone) implements DataRedisConnectionDetails {

	}

}
