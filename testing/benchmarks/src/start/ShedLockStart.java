package io.github.holdfast.benchmarks.start;

import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@EnableSchedulerLock(defaultLockAtMostFor = "1m")
class ShedLockStart {

	public static void main(String[] args) {
		Start.run(ShedLockStart.class, args);
	}

	@Bean
	LockProvider lockProvider(RedisConnectionFactory redis) {
		return new RedisLockProvider(redis, "start");
	}

	@Bean
	Job job() {
		return new Job();
	}

	static class Job implements Runnable {

		@Override
		@SchedulerLock(name = "job")
		public void run() {
		}

	}

}
