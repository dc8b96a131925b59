package io.github.holdfast.benchmarks.start;

import io.github.holdfast.DistributedLock;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
class HoldfastStart {

	public static void main(String[] args) {
		Start.run(HoldfastStart.class, args);
	}

	@Bean
	Job job() {
		return new Job();
	}

	static class Job implements Runnable {

		@Override
		@DistributedLock(key = "'job'")
		public void run() {
		}

	}

}
