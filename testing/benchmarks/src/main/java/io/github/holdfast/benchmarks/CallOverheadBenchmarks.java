package io.github.holdfast.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.Assert;

import io.github.holdfast.DistributedLock;

/** What each layer adds to a call of one thread that nobody else is in the way of. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 12, time = 1)
@Measurement(iterations = 5, time = 1)
public class CallOverheadBenchmarks {

	private static final int SKUS = 64;

	private final String[] skus = IntStream.range(0, SKUS).mapToObj("SKU-%05d"::formatted).toArray(String[]::new);

	@Param
	public CallPath path = CallPath.PLAIN;

	private Stock stock = new Stock();

	private long calls;

	private long deducted;

	@Setup
	public void build() {
		this.stock = this.path.stock.get();
	}

	@Benchmark
	public long deduct() {
		this.deducted = this.stock.deduct(this.skus[(int) (this.calls++ % SKUS)], 1);
		return this.deducted;
	}

	@TearDown
	public void check() {
		Assert.state(this.deducted == this.calls, () -> this.calls + " calls, but " + this.deducted + " deducted");
	}

	/** What stands between the caller and the method. */
	public enum CallPath {

		PLAIN(Stock::new),
		/** The annotation as it is in an application, on the backend {@code local}. */
		LOCK(CallPath::locked),
		/** The same with meters. */
		LOCK_METERS(() -> locked(Meters.class));

		private final Supplier<Stock> stock;

		CallPath(Supplier<Stock> stock) {
			this.stock = stock;
		}

		private static Stock locked(Class<?>... others) {
			List<Class<?>> beans = new ArrayList<>(List.of(LockedStock.class, StorelessTransactionManager.class));
			beans.addAll(List.of(others));
			return BenchmarkApplication
				.start(true, beans, List.of("holdfast.backend=local", "holdfast.commit-guard=lease"))
				.getBean(Stock.class);
		}

	}

	/**
	 * A method that does next to nothing, so that a measurement shows what is around it.
	 */
	static class Stock {

		private long deducted;

		long deduct(String sku, int quantity) {
			this.deducted += quantity;
			return this.deducted;
		}

	}

	static class LockedStock extends Stock {

		@Override
		@DistributedLock(key = "'inventory:' + #sku")
		public long deduct(String sku, int quantity) {
			return super.deduct(sku, quantity);
		}

	}

	/** As Spring Boot's Actuator sets it up. */
	@Configuration(proxyBeanMethods = false)
	static class Meters {

		@Bean
		ObservationRegistry observationRegistry() {
			ObservationRegistry registry = ObservationRegistry.create();
			registry.observationConfig()
				.observationHandler(new DefaultMeterObservationHandler(new SimpleMeterRegistry()));
			return registry;
		}

	}

}
