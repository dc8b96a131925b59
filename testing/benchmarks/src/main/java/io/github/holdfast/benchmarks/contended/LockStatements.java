package io.github.holdfast.benchmarks.contended;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToLongBiFunction;
import java.util.stream.IntStream;

import com.sun.management.OperatingSystemMXBean;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.env.SimpleCommandLinePropertySource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.benchmarks.HoldfastRows;
import io.github.holdfast.benchmarks.Store;
import io.github.holdfast.benchmarks.Stores;
import io.github.holdfast.benchmarks.Machine;
import io.github.holdfast.benchmarks.Spread;

/**
 * What no lock in the database can be faster than: the transactions of
 * {@link Scenario#DISTINCT_KEYS} and {@link Scenario#TRANSACTION}, with one statement
 * more, which is written by hand.
 */
public final class LockStatements {

	private static final int THREADS = 16;

	private static final String SELECT_EPOCH = "SELECT epoch FROM lock_row WHERE lock_key = ?";

	private static final ToLongBiFunction<LockStatements, String> NOTHING = (database, key) -> 0;

	private static final ToLongBiFunction<LockStatements, String> SELECT = (database, key) -> database.jdbc
		.queryForObject(SELECT_EPOCH, Long.class, key);

	private static final ToLongBiFunction<LockStatements, String> SELECT_FOR_UPDATE = (database, key) -> database.jdbc
		.queryForObject(SELECT_EPOCH + " FOR UPDATE", Long.class, key);

	private static final ToLongBiFunction<LockStatements, String> UPDATE = (database, key) -> database.jdbc
		.update("UPDATE lock_row SET epoch = epoch + 1 WHERE lock_key = ?", key);

	/** See {@link HoldfastRows}. */
	private static final ToLongBiFunction<LockStatements, String> HOLDFAST = (database, key) -> database.rows.lock(key);

	private static final List<Variant> DISTINCT_KEYS = List.of(new Variant("none", NOTHING, false),
			new Variant("`SELECT` of a row by its primary key", SELECT, false),
			new Variant("the same `FOR UPDATE`", SELECT_FOR_UPDATE, false),
			new Variant("`UPDATE` of one column", UPDATE, false),
			new Variant("the same, and `SELECT … FOR UPDATE` of it before the commit", UPDATE, true),
			new Variant("what Holdfast sends", HOLDFAST, true));

	private static final List<Variant> ONE_KEY = List.of(
			new Variant("none, one thread at a time", NOTHING, false, Turn.UNTIL_THE_END),
			new Variant("`UPDATE`, one thread at a time", UPDATE, false, Turn.UNTIL_THE_END),
			new Variant("`UPDATE`, the next thread waits for it", UPDATE, false, Turn.UNTIL_LOCKED),
			new Variant("with the `SELECT`, one thread at a time", UPDATE, true, Turn.UNTIL_THE_END),
			new Variant("with the `SELECT`, the next thread waits for it", UPDATE, true, Turn.UNTIL_LOCKED),
			new Variant("what Holdfast sends, one thread at a time", HOLDFAST, true, Turn.UNTIL_THE_END),
			new Variant("what Holdfast sends, the next thread waits for it", HOLDFAST, true, Turn.UNTIL_LOCKED));

	private final JdbcTemplate jdbc;

	private final TransactionTemplate transaction;

	private final Stock stock;

	private final HoldfastRows rows;

	/** For one key: who may ask the database. */
	private final Semaphore turn = new Semaphore(1, true);

	private LockStatements(HikariDataSource dataSource) {
		this.jdbc = new JdbcTemplate(dataSource);
		this.transaction = new TransactionTemplate(new JdbcTransactionManager(dataSource));
		this.stock = new Stock(this.jdbc, false);
		this.rows = HoldfastRows.create(this.jdbc);
		this.jdbc.execute("CREATE TABLE lock_row (lock_key varchar(50) NOT NULL PRIMARY KEY, epoch bigint NOT NULL)");
		for (int thread = 0; thread < THREADS; thread++) {
			this.stock.fill("sku-" + thread);
			this.jdbc.update("INSERT INTO lock_row VALUES (?, 1)", "sku-" + thread);
			this.rows.insert("sku-" + thread);
		}
	}

	/**
	 * Measure, and print a table for each database.
	 * @param args {@code --rounds}, {@code --warm-up} and {@code --measure}
	 */
	public static void main(String[] args) {
		SimpleCommandLinePropertySource options = new SimpleCommandLinePropertySource(args);
		try (Stores stores = Stores.start(EnumSet.of(Store.MARIADB, Store.POSTGRESQL))) {
			for (String database : List.of(Store.JDBC_URL, Store.POSTGRESQL_JDBC_URL)) {
				HikariConfig pool = new HikariConfig();
				pool.setJdbcUrl(stores.properties()
					.stream()
					.filter((property) -> property.startsWith(database + "="))
					.map((property) -> property.substring(database.length() + 1))
					.findFirst()
					.orElseThrow());
				pool.setMaximumPoolSize(THREADS);
				try (HikariDataSource dataSource = new HikariDataSource(pool)) {
					System.out.println("\n" + new LockStatements(dataSource).run(options));
				}
			}
		}
		System.out.println(Machine.description());
	}

	private String run(SimpleCommandLinePropertySource options) {
		return run(DISTINCT_KEYS, options) + "\n" + run(ONE_KEY, options);
	}

	private String run(List<Variant> variants, SimpleCommandLinePropertySource options) {
		Map<Variant, List<Round>> measured = new LinkedHashMap<>();
		for (Variant variant : variants) {
			measure(variant, duration(options, "warm-up", "10s"));
			measured.put(variant, new ArrayList<>());
		}
		int rounds = options.containsProperty("rounds") ? Integer.parseInt(options.getProperty("rounds")) : 7;
		for (int round = 1; round <= rounds; round++) {
			measured
				.forEach((variant, results) -> results.add(measure(variant, duration(options, "measure", "1500ms"))));
		}
		return table(measured);
	}

	private static Duration duration(SimpleCommandLinePropertySource options, String option, String value) {
		String given = options.getProperty(option);
		return DurationStyle.detectAndParse((given != null) ? given : value);
	}

	private Round measure(Variant variant, Duration time) {
		LongAdder calls = new LongAdder();
		long cpu = cpuNanos();
		long begin = System.nanoTime();
		CompletableFuture.allOf(IntStream.range(0, THREADS).mapToObj((thread) -> CompletableFuture.runAsync(() -> {
			while (System.nanoTime() - begin < time.toNanos()) {
				if (variant.turn() == Turn.NONE) {
					call(variant, "sku-" + thread);
				}
				else {
					this.turn.acquireUninterruptibly();
					call(variant, "sku-0");
				}
				calls.increment();
			}
		}, (task) -> new Thread(task).start())).toArray(CompletableFuture[]::new)).join();
		double seconds = (System.nanoTime() - begin) / 1e9;
		return new Round(calls.sum() / seconds, (cpuNanos() - cpu) / 1e3 / calls.sum());
	}

	private static long cpuNanos() {
		return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
	}

	private void call(Variant variant, String sku) {
		this.transaction.executeWithoutResult((status) -> {
			long owner = variant.lock().applyAsLong(this, sku);
			if (variant.turn() == Turn.UNTIL_LOCKED) {
				this.turn.release();
			}
			this.stock.deductOne(sku);
			if (variant.lock() == HOLDFAST) {
				this.rows.ask(sku, owner);
			}
			else if (variant.asked()) {
				SELECT_FOR_UPDATE.applyAsLong(this, sku);
			}
		});
		if (variant.turn() == Turn.UNTIL_THE_END) {
			this.turn.release();
		}
	}

	private static String table(Map<Variant, List<Round>> measured) {
		List<Double> first = rates(measured.values().iterator().next());
		StringBuilder table = new StringBuilder("""
				| one statement more | calls per s | of the first row's | client CPU µs per call |
				| --- | ---: | ---: | ---: |
				""");
		measured.forEach((variant, rounds) -> {
			Spread ratio = Spread.ofRatios(rates(rounds), first);
			table.append(String.format(Locale.ROOT, "| %s | %.0f | %.2f (%.2f to %.2f) | %.0f |%n", variant.title(),
					Spread.of(rates(rounds)).median(), ratio.median(), ratio.smallest(), ratio.largest(),
					Spread.of(rounds.stream().map(Round::cpuMicros).toList()).median()));
		});
		return table.toString();
	}

	private static List<Double> rates(List<Round> rounds) {
		return rounds.stream().map(Round::rate).toList();
	}

	/**
	 * What was measured at once.
	 *
	 * @param rate how many calls there were in a second
	 * @param cpuMicros the processor time of this JVM for each
	 */
	private record Round(double rate, double cpuMicros) {

	}

	/**
	 * What is measured.
	 *
	 * @param title what it is called in tables
	 * @param lock what the transaction does before its work
	 * @param asked whether it asks for the row again before its commit
	 * @param turn for how long the other threads do not ask for the key
	 */
	private record Variant(String title, ToLongBiFunction<LockStatements, String> lock, boolean asked, Turn turn) {

		Variant(String title, ToLongBiFunction<LockStatements, String> lock, boolean asked) {
			this(title, lock, asked, Turn.NONE);
		}

	}

	private enum Turn {

		/** Each thread has its own. */
		NONE,

		UNTIL_LOCKED,

		UNTIL_THE_END

	}

}
