package io.github.holdfast.benchmarks.contender;

import org.redisson.api.RedissonClient;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * A client that an application has.
 */
@Configuration(proxyBeanMethods = false)
class RedissonConfiguration {

	@Bean(destroyMethod = "shutdown")
	RedissonClient redisson(@Value("${spring.data.redis.port}") int port) {
		return RedissonLockClient.connect(port);
	}

}
