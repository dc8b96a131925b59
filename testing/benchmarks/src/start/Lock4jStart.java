package io.github.holdfast.benchmarks.start;

import com.baomidou.lock.annotation.Lock4j;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
class Lock4jStart {

	public static void main(String[] args) {
		Start.run(Lock4jStart.class, args);
	}

	@Bean
	Job job() {
		return new Job();
	}

	static class Job implements Runnable {

		@Override
		@Lock4j(name = "job")
		public void run() {
		}

	}

}
