package io.github.holdfast.benchmarks.overhead;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Registries of meters.
 */
final class Meters {

	private Meters() {
	}

	/**
	 * One that has all of them.
	 */
	@Configuration(proxyBeanMethods = false)
	static class On {

		@Bean
		MeterRegistry meterRegistry() {
			return new SimpleMeterRegistry();
		}

	}

	/**
	 * One that has none of this library's, as by
	 * {@code management.metrics.enable.holdfast}.
	 */
	@Configuration(proxyBeanMethods = false)
	static class Off {

		@Bean
		MeterRegistry meterRegistry() {
			MeterRegistry registry = new SimpleMeterRegistry();
			registry.config().meterFilter(MeterFilter.denyNameStartsWith("holdfast"));
			return registry;
		}

	}

}
