package io.github.holdfast.benchmarks;

import java.util.concurrent.TimeUnit;

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

import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.LockManager;
import io.github.holdfast.store.local.LocalLockBackend;

/**
 * Threads that count under a lock, all with one key or each with a key of its own. The
 * counters are plain fields: an increment that is lost fails the run.
 */
@State(Scope.Benchmark)
@Threads(16)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class LocalContentionBenchmarks {

	/**
	 * The kind of lock.
	 */
	@Param
	public KeyedLock lock = KeyedLock.HOLDFAST_LOCAL;

	/**
	 * Who shares a key with whom.
	 */
	@Param
	public KeySpread keys = KeySpread.ONE_KEY;

	private final Counter shared = new Counter();

	private long calls;

	private int ended;

	/**
	 * One call.
	 * @param caller the thread that calls
	 */
	@Benchmark
	public void count(Caller caller) {
		this.lock.client.run(caller.key, caller.counter::increment);
		caller.calls++;
	}

	private synchronized void end(Caller caller, int callers) {
		this.calls += caller.calls;
		if (++this.ended == callers) {
			Assert.state(this.calls == this.shared.value,
					() -> this.calls + " calls, but " + this.shared.value + " counted");
		}
	}

	/**
	 * One lock for each key: ours, and what the JDK offers inside of one JVM.
	 */
	public enum KeyedLock {

		/** A {@link LockTemplate} on the backend {@code local}. */
		HOLDFAST_LOCAL(local(new LockTemplate(new LockManager(new LocalLockBackend())))),
		/** A fair lock for each key, which is kept for ever. */
		FAIR_REENTRANT_LOCK(Clients.reentrantLocks(true)),
		/** The same without fairness, so that a thread may overtake those that wait. */
		UNFAIR_REENTRANT_LOCK(Clients.reentrantLocks(false));

		private final LockClient client;

		KeyedLock(LockClient client) {
			this.client = client;
		}

		private static LockClient local(LockTemplate template) {
			return (key, body) -> template.run(key, body::run);
		}

	}

	/**
	 * Who shares a key with whom.
	 */
	public enum KeySpread {

		/** All threads want the same lock. */
		ONE_KEY,
		/** Each thread wants a lock of its own. */
		KEY_PER_THREAD

	}

	/**
	 * One thread.
	 */
	@State(Scope.Thread)
	public static class Caller {

		private String key = "";

		private Counter counter = new Counter();

		private long calls;

		/**
		 * Chooses the key.
		 * @param benchmark knows who shares a key
		 * @param thread the thread
		 */
		@Setup
		public void chooseKey(LocalContentionBenchmarks benchmark, ThreadParams thread) {
			boolean shared = benchmark.keys == KeySpread.ONE_KEY;
			this.key = shared ? "inventory:SKU" : "inventory:SKU-" + thread.getThreadIndex();
			this.counter = shared ? benchmark.shared : new Counter();
		}

		/**
		 * Checks that no increment was lost; of the shared counter, when all threads have
		 * ended.
		 * @param benchmark has the shared counter
		 * @param thread the thread
		 */
		@TearDown
		public void check(LocalContentionBenchmarks benchmark, ThreadParams thread) {
			if (this.counter == benchmark.shared) {
				benchmark.end(this, thread.getThreadCount());
			}
			else {
				Assert.state(this.calls == this.counter.value, "Not every call has counted");
			}
		}

	}

	private static final class Counter {

		private long value;

		private void increment() {
			this.value++;
		}

	}

}
