package io.github.holdfast.benchmarks;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongFunction;
import java.util.function.LongPredicate;
import java.util.stream.IntStream;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.SimpleCommandLinePropertySource;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.util.Assert;
import org.springframework.util.ReflectionUtils;

import io.github.holdfast.store.jdbc.JdbcLockPurge;

/** Many keys, many callers of one key, and a large lock table: rates, and what grows. */
public final class ScaleRuns {

	private static final int THREADS = 16;

	/** How the last tenth of the keys compares with the first one. */
	private static final int PARTS = 10;

	private final List<String> stores;

	private ScaleRuns(Stores stores) {
		this.stores = new ArrayList<>(stores.properties());
		this.stores.removeIf((property) -> property.startsWith(Store.JDBC_URL));
		this.stores.add(Store.JDBC_URL + "=${" + Store.POSTGRESQL_JDBC_URL + "}");
	}

	public static void main(String[] args) {
		SimpleCommandLinePropertySource options = new SimpleCommandLinePropertySource(args);
		int keys = number(options, "keys", 1_000_000);
		int callers = number(options, "callers", 10_000);
		int rows = number(options, "rows", 10_000_000);
		try (Stores stores = Stores.start(EnumSet.of(Store.REDIS, Store.POSTGRESQL))) {
			ScaleRuns runs = new ScaleRuns(stores);
			for (Contender contender : List.of(Contender.HOLDFAST_REDIS, Contender.HOLDFAST_JDBC)) {
				if (keys > 0) {
					runs.keys(contender, keys);
				}
				if (callers > 0) {
					runs.callers(contender, callers);
				}
			}
			if (rows > 0) {
				runs.rows(rows);
			}
		}
		System.out.println(Machine.description());
	}

	private static int number(SimpleCommandLinePropertySource options, String option, int value) {
		String given = options.getProperty(option);
		return (given != null) ? Integer.parseInt(given) : value;
	}

	private static void print(String text, Object... values) {
		System.out.println(String.format(Locale.ROOT, text, values));
	}

	/** Each key is locked once, as if each order had one of its own. */
	private void keys(Contender contender, int keys) {
		try (ConfigurableApplicationContext application = contender.start(true, this.stores)) {
			Calls calls = new Calls(contender, application);
			calls.run(Duration.ofSeconds(20), (number) -> "warm-up-" + number % 1000);
			long heap = usedHeap();
			String before = calls.stored(contender);
			print("%n%s: %d keys, each locked once by one of %d threads", contender.title(), keys, THREADS);
			for (int part = 0; part < PARTS; part++) {
				int first = part * (keys / PARTS);
				double rate = calls.run((i) -> i < keys / PARTS, (i) -> "order-" + (first + i));
				if (part == 0 || part == PARTS - 1) {
					print("  keys from %d: %.0f calls per s", first, rate);
				}
			}
			print("  heap after a collection: %d MB before, %d MB after", heap >> 20, usedHeap() >> 20);
			print("  store before: %s%n  store after: %s", before, calls.stored(contender));
		}
	}

	/** Virtual threads, all of which want one key at once. */
	private void callers(Contender contender, int callers) {
		try (ConfigurableApplicationContext application = contender.start(true, this.stores)) {
			Calls calls = new Calls(contender, application);
			calls.run(Duration.ofSeconds(10), (number) -> "warm-up-" + number % 1000);
			ThreadMXBean threads = ManagementFactory.getThreadMXBean();
			int before = threads.getThreadCount();
			threads.resetPeakThreadCount();
			AtomicLong value = new AtomicLong();
			long begin = System.nanoTime();
			Executor executor = virtualThreads();
			CompletableFuture<?>[] all = IntStream.range(0, callers)
				.mapToObj((i) -> CompletableFuture
					.runAsync(() -> calls.call("hot", () -> value.setPlain(value.getPlain() + 1)), executor))
				.toArray(CompletableFuture[]::new);
			long heap = usedHeap();
			CompletableFuture.allOf(all).join();
			double seconds = (System.nanoTime() - begin) / 1e9;
			Assert.state(value.get() == callers, "A call was lost");
			print("%n%s: %d virtual threads want one key at once", contender.title(), callers);
			print("  all have had it after %.1f s: %.0f calls per s", seconds, callers / seconds);
			print("  threads of the platform: %d before, at most %d; heap while they wait: %d MB", before,
					threads.getPeakThreadCount(), heap >> 20);
		}
	}

	/** From Java 21 on. */
	private static Executor virtualThreads() {
		var method = ReflectionUtils.findMethod(Executors.class, "newVirtualThreadPerTaskExecutor");
		Assert.state(method != null, "Virtual threads need Java 21: run this with a later one, or with --callers=0");
		return (ExecutorService) ReflectionUtils.invokeMethod(method, null);
	}

	/** A lock table with many rows that nobody has used for long. */
	private void rows(int rows) {
		try (ConfigurableApplicationContext application = Contender.HOLDFAST_JDBC.start(true, this.stores)) {
			Calls calls = new Calls(Contender.HOLDFAST_JDBC, application);
			JdbcTemplate jdbc = application.getBean(JdbcTemplate.class);
			jdbc.execute("TRUNCATE holdfast_lock");
			calls.run(Duration.ofSeconds(20), (number) -> "few-" + number % 1000);
			double few = calls.run(Duration.ofSeconds(10), (number) -> "few-" + number % 1000);
			long begin = System.nanoTime();
			jdbc.update("INSERT INTO holdfast_lock (lock_key, epoch, expires_at) "
					+ "SELECT 'old-' || i, 1, 1 FROM generate_series(1, ?) i", rows);
			jdbc.execute("VACUUM ANALYZE holdfast_lock");
			print("%n%d rows, made in %.0f s: %s", rows, (System.nanoTime() - begin) / 1e9,
					calls.stored(Contender.HOLDFAST_JDBC));
			double many = calls.run(Duration.ofSeconds(10),
					(number) -> "old-" + ThreadLocalRandom.current().nextInt(rows));
			print("  calls per s: %.0f with 1000 rows, %.0f of any of these", few, many);
			CompletableFuture<Integer> purge = CompletableFuture.supplyAsync(() -> purge(application, 30));
			double beside = calls.run(Duration.ofSeconds(10), (number) -> "few-" + number % 1000);
			print("  while they are purged: %.0f calls per s, and %d rows deleted in 30 s", beside, purge.join());
			print("  the purge alone: %d rows deleted in 30 s", purge(application, 30));
		}
	}

	private static int purge(ConfigurableApplicationContext application, long seconds) {
		long end = System.nanoTime() + Duration.ofSeconds(seconds).toNanos();
		try {
			JdbcTemplate jdbc = application.getBean(JdbcTemplate.class);
			long before = rows(jdbc);
			application.getBean(JdbcLockPurge.class).run(() -> System.nanoTime() < end);
			return (int) (before - rows(jdbc));
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static long rows(JdbcTemplate jdbc) {
		Long rows = jdbc.queryForObject("SELECT count(*) FROM holdfast_lock", Long.class);
		return (rows != null) ? rows : 0;
	}

	private static long usedHeap() {
		System.gc();
		Runtime runtime = Runtime.getRuntime();
		return runtime.totalMemory() - runtime.freeMemory();
	}

	private static final class Calls {

		private final ConfigurableApplicationContext application;

		private final LockClient client;

		private final Transactions transactions;

		Calls(Contender contender, ConfigurableApplicationContext application) {
			this.application = application;
			this.client = contender.client(application);
			this.transactions = application.getBean(Transactions.class);
		}

		void call(String key, Runnable body) {
			this.client.runInTransaction(key, this.transactions, body);
		}

		/** Calls per second. */
		double run(Duration time, LongFunction<String> key) {
			long end = System.nanoTime() + time.toNanos();
			return run((number) -> System.nanoTime() < end, key);
		}

		/** Calls per second, by all threads as long as it is wanted. */
		double run(LongPredicate wanted, LongFunction<String> key) {
			LongAdder calls = new LongAdder();
			LongAdder begun = new LongAdder();
			AtomicLong next = new AtomicLong();
			long begin = System.nanoTime();
			CompletableFuture.allOf(IntStream.range(0, THREADS).mapToObj((thread) -> CompletableFuture.runAsync(() -> {
				for (long i = next.getAndIncrement(); wanted.test(i); i = next.getAndIncrement()) {
					begun.increment();
					call(key.apply(i), calls::increment);
				}
			}, (task) -> new Thread(task).start())).toArray(CompletableFuture[]::new)).join();
			Assert.state(calls.sum() == begun.sum(), "A call was lost");
			return calls.sum() / ((System.nanoTime() - begin) / 1e9);
		}

		/** What there is in the store, and how large it is. */
		String stored(Contender contender) {
			if (contender == Contender.HOLDFAST_REDIS) {
				return this.application.getBean(StringRedisTemplate.class)
					.execute((RedisCallback<String>) (redis) -> redis.serverCommands().dbSize() + " keys, "
							+ redis.serverCommands().info("memory").getProperty("used_memory_human"));
			}
			return this.application.getBean(JdbcTemplate.class)
				.queryForObject(
						"SELECT count(*) || ' rows, ' "
								+ "|| pg_size_pretty(pg_total_relation_size('holdfast_lock')) FROM holdfast_lock",
						String.class);
		}

	}

}
