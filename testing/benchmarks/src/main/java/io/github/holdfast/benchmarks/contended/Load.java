package io.github.holdfast.benchmarks.contended;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import com.sun.management.OperatingSystemMXBean;

/** Threads that call until the last JVM has measured, so that all have competitors. */
final class Load {

	private static final OperatingSystemMXBean SYSTEM = ManagementFactory
		.getPlatformMXBean(OperatingSystemMXBean.class);

	/** Until all threads have started, and have connections. */
	private static final long SETTLING_MILLIS = 500;

	private final Runnable turn;

	private final List<CompletableFuture<Calls>> threads = new ArrayList<>();

	private volatile Phase phase = Phase.UNMEASURED;

	private long nanos;

	private long cpuNanos;

	private Load(Runnable turn) {
		this.turn = turn;
	}

	static Load start(int threads, Runnable turn) {
		Load load = new Load(turn);
		for (int i = 0; i < threads; i++) {
			load.threads.add(CompletableFuture.supplyAsync(load::call, (task) -> new Thread(task).start()));
		}
		return load;
	}

	private Calls call() {
		Calls calls = new Calls();
		long begin = System.nanoTime();
		while (this.phase != Phase.ENDED) {
			this.turn.run();
			long end = System.nanoTime();
			calls.count++;
			if (this.phase == Phase.MEASURED) {
				calls.latencies.record(end - begin);
			}
			begin = end;
		}
		return calls;
	}

	void measure(long millis) throws InterruptedException {
		Thread.sleep(SETTLING_MILLIS);
		long begin = System.nanoTime();
		long cpuBegin = SYSTEM.getProcessCpuTime();
		this.phase = Phase.MEASURED;
		Thread.sleep(millis);
		this.phase = Phase.UNMEASURED;
		this.nanos = System.nanoTime() - begin;
		this.cpuNanos = SYSTEM.getProcessCpuTime() - cpuBegin;
	}

	/** Ends the calls. Fails if one of them has failed. */
	LoadResult end() {
		this.phase = Phase.ENDED;
		long count = 0;
		Latencies latencies = new Latencies();
		for (CompletableFuture<Calls> thread : this.threads) {
			Calls calls = thread.join();
			count += calls.count;
			latencies.add(calls.latencies);
		}
		return new LoadResult(count, this.nanos, this.cpuNanos, latencies);
	}

	/**
	 * What the threads of one JVM have done. All but the calls is of the measured time.
	 */
	record LoadResult(long calls, long nanos, long cpuNanos, Latencies latencies) {

		double rate() {
			return this.latencies.count() * 1e9 / this.nanos;
		}

		static LoadResult parse(String text) {
			String[] parts = text.split(" ", -1);
			return new LoadResult(Long.parseLong(parts[0]), Long.parseLong(parts[1]), Long.parseLong(parts[2]),
					Latencies.parse(parts[3]));
		}

		@Override
		public String toString() {
			return this.calls + " " + this.nanos + " " + this.cpuNanos + " " + this.latencies;
		}

	}

	private enum Phase {

		UNMEASURED, MEASURED, ENDED

	}

	private static final class Calls {

		private final Latencies latencies = new Latencies();

		private long count;

	}

}
