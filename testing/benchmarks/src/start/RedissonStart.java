package io.github.holdfast.benchmarks.start;

import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
class RedissonStart {

	public static void main(String[] args) {
		Start.run(RedissonStart.class, args);
	}

	@Bean
	Runnable job(RedissonClient redisson) {
		return () -> {
			RLock lock = redisson.getLock("job");
			lock.lock();
			lock.unlock();
		};
	}

}
