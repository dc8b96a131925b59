package io.github.holdfast.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
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

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.util.Assert;

/** Locks that nobody else wants. Each thread takes its own keys in turn. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 8, time = 1)
@Measurement(iterations = 3, time = 1)
public class UncontendedLockBenchmarks {

	private static final int KEYS = 16;

	private static final int TURNS = 100;

	/** Nothing is sent any more when nothing came for this time. */
	private static final int QUIET_MILLIS = 200;

	@Param({ "HOLDFAST_REDIS", "HOLDFAST_REDISSON", "HOLDFAST_JDBC", "REDISSON", "LOCK4J_REDISSON",
			"LOCK4J_REDIS_TEMPLATE", "SHEDLOCK", "SPRING_INTEGRATION_REDIS", "SPRING_INTEGRATION_REDIS_SPIN",
			"SPRING_INTEGRATION_JDBC", "CURATOR", "BARE_COMMANDS", "FAIR_REENTRANT_LOCK" })
	public Contender lock = Contender.HOLDFAST_REDIS;

	private @Nullable Stores stores;

	private @Nullable ConfigurableApplicationContext application;

	private @Nullable LockClient client;

	private int counter;

	/** Starts the store, checks the locks, and counts what a call sends to Redis. */
	@Setup
	public void open() throws IOException {
		this.stores = Stores.start(this.lock.stores());
		this.application = this.lock.start(false, this.stores.properties());
		this.client = this.lock.client(this.application);
		CompletableFuture
			.allOf(IntStream.range(0, 4)
				.mapToObj((i) -> CompletableFuture.runAsync(this::turns, (task) -> new Thread(task).start()))
				.toArray(CompletableFuture<?>[]::new))
			.join();
		Assert.state(this.counter == 4 * TURNS, () -> "Only " + this.counter + " calls have counted");
		if (this.lock.stores().contains(Store.REDIS)) {
			CallProfiler.commands = (double) commands(
					this.application.getEnvironment().getRequiredProperty("spring.data.redis.port", Integer.class))
					/ TURNS;
		}
	}

	private void turns() {
		for (int i = 0; i < TURNS; i++) {
			this.client.run("inventory:SKU", () -> this.counter++);
		}
	}

	/** What clients send to Redis in some turns, without what scripts do there. */
	private int commands(int port) throws IOException {
		try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
			BufferedReader lines = new BufferedReader(
					new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
			socket.getOutputStream().write("MONITOR\r\n".getBytes(StandardCharsets.UTF_8));
			String answer = lines.readLine();
			Assert.state(answer.equals("+OK"), answer);
			turns();
			socket.setSoTimeout(QUIET_MILLIS);
			int count = 0;
			try {
				while (true) {
					count += lines.readLine().contains(" lua] ") ? 0 : 1;
				}
			}
			catch (SocketTimeoutException ex) {
				return count;
			}
		}
	}

	@TearDown
	public void close() {
		if (this.application != null) {
			this.application.close();
		}
		if (this.stores != null) {
			this.stores.close();
		}
	}

	@Benchmark
	@Threads(16)
	public void distinctKeys(Caller caller) {
		caller.call();
	}

	@State(Scope.Thread)
	public static class Caller {

		private final long[] counters = new long[KEYS];

		private String[] keys = {};

		private @Nullable LockClient client;

		private long calls;

		@Setup
		public void begin(UncontendedLockBenchmarks benchmark, ThreadParams thread) {
			String prefix = "inventory:SKU-" + thread.getThreadIndex() + "-";
			this.keys = IntStream.range(0, KEYS).mapToObj((i) -> prefix + i).toArray(String[]::new);
			this.client = benchmark.client;
		}

		private void call() {
			int key = (int) (this.calls++ % KEYS);
			this.client.run(this.keys[key], () -> this.counters[key]++);
		}

		@TearDown
		public void check() {
			for (int key = 0; key < KEYS; key++) {
				long expected = (this.calls + KEYS - 1 - key) / KEYS;
				Assert.state(this.counters[key] == expected, "Not every call has counted");
			}
		}

	}

}
