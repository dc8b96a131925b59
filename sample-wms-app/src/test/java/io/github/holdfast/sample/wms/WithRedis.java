package io.github.holdfast.sample.wms;

import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;

import io.github.holdfast.testsupport.RedisServer;

/** A Redis that starts and ends with the service. */
@TestConfiguration(proxyBeanMethods = false)
class WithRedis {

	@Bean
	RedisServer redis() {
		return RedisServer.start();
	}

	@Bean
	DataRedisConnectionDetails redisConnectionDetails(RedisServer redis) {
		return new ConnectionDetails(DataRedisConnectionDetails.Standalone.of("127.0.0.1", redis.port()));
	}

	private record ConnectionDetails(Standalone getStandalone) implements DataRedisConnectionDetails {

	}

}
