package io.github.holdfast.benchmarks.uncontended;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;
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
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.ThreadParams;

import org.springframework.util.Assert;

import io.github.holdfast.benchmarks.CommandsProfiler;
import io.github.holdfast.benchmarks.contender.Contender;
import io.github.holdfast.benchmarks.contender.LockClient;

/**
 * Locks that nobody else wants. Each thread takes its own keys in turn, as an application
 * seldom locks the same one twice in a row.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 8, time = 1)
@Measurement(iterations = 3, time = 1)
public class UncontendedLockBenchmarks {

	private static final int KEYS = 16;

	private static final int COUNTED_CALLS = 100;

	/**
	 * The way to lock.
	 */
	@Param({ "HOLDFAST_REDIS", "HOLDFAST_REDIS_TEMPLATE", "HOLDFAST_REDISSON", "HOLDFAST_JDBC", "HOLDFAST_ZOOKEEPER",
			"REDISSON", "LOCK4J_REDISSON", "LOCK4J_REDIS_TEMPLATE", "SHEDLOCK", "SPRING_INTEGRATION_REDIS",
			"SPRING_INTEGRATION_REDIS_SPIN", "SPRING_INTEGRATION_JDBC", "CURATOR", "BARE_COMMANDS",
			"FAIR_REENTRANT_LOCK", "UNFAIR_REENTRANT_LOCK" })
	public Contender lock = Contender.HOLDFAST_REDIS;

	private @Nullable LockedStore store;

	/**
	 * Starts the store, checks the locks, and counts what a call sends.
	 * @throws IOException if Redis cannot be watched
	 */
	@Setup
	public void open() throws IOException {
		LockedStore store = LockedStore.start(this.lock);
		this.store = store;
		store.checkExclusion();
		CommandsProfiler.counted(store.commandsPerCall(COUNTED_CALLS));
	}

	/**
	 * Stops the store.
	 */
	@TearDown
	public void close() {
		if (this.store != null) {
			this.store.close();
		}
	}

	/**
	 * One call, while there is no other.
	 * @param caller the thread
	 */
	@Benchmark
	@Threads(1)
	public void oneThread(Caller caller) {
		caller.call();
	}

	/**
	 * One call, beside those of other threads for other keys.
	 * @param caller the thread
	 */
	@Benchmark
	@Threads(16)
	public void distinctKeys(Caller caller) {
		caller.call();
	}

	/**
	 * One thread.
	 */
	@State(Scope.Thread)
	public static class Caller {

		private final long[] counters = new long[KEYS];

		private String[] keys = {};

		private @Nullable LockClient client;

		private long calls;

		/**
		 * Chooses the keys.
		 * @param benchmark has the locks
		 * @param thread the thread
		 */
		@Setup
		public void begin(UncontendedLockBenchmarks benchmark, ThreadParams thread) {
			String prefix = "inventory:SKU-" + thread.getThreadIndex() + "-";
			this.keys = IntStream.range(0, KEYS).mapToObj((i) -> prefix + i).toArray(String[]::new);
			this.client = benchmark.store.client();
		}

		private void call() {
			int key = (int) (this.calls++ % KEYS);
			this.client.run(this.keys[key], () -> this.counters[key]++);
		}

		/**
		 * Checks that each call has counted.
		 */
		@TearDown
		public void check() {
			for (int key = 0; key < KEYS; key++) {
				long expected = (this.calls + KEYS - 1 - key) / KEYS;
				Assert.state(this.counters[key] == expected, "Not every call has counted");
			}
		}

	}

}
