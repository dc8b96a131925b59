package io.github.holdfast.benchmarks.contended;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;

import com.sun.management.OperatingSystemMXBean;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.env.SimpleCommandLinePropertySource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.benchmarks.contender.Store;
import io.github.holdfast.benchmarks.contender.Stores;
import io.github.holdfast.benchmarks.report.Machine;
import io.github.holdfast.benchmarks.report.Spread;

/**
 * What no lock in the database can be faster than: the transactions of
 * {@link Scenario#DISTINCT_KEYS}, with one statement more, which is written by hand.
 */
public final class LockStatements {

	private static final int THREADS = 16;

	private final JdbcTemplate jdbc;

	private final TransactionTemplate transaction;

	private final Stock stock;

	private final Map<Extra, List<Round>> rounds = new EnumMap<>(Extra.class);

	private LockStatements(HikariDataSource dataSource) {
		this.jdbc = new JdbcTemplate(dataSource);
		this.transaction = new TransactionTemplate(new JdbcTransactionManager(dataSource));
		this.stock = new Stock(this.jdbc, false);
		this.jdbc.execute("CREATE TABLE lock_row (lock_key varchar(50) NOT NULL PRIMARY KEY, epoch bigint NOT NULL)");
		for (int thread = 0; thread < THREADS; thread++) {
			this.stock.fill("sku-" + thread);
			this.jdbc.update("INSERT INTO lock_row VALUES (?, 1)", "sku-" + thread);
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
		for (Extra extra : Extra.values()) {
			measure(extra, duration(options, "warm-up", "10s"));
		}
		int rounds = options.containsProperty("rounds") ? Integer.parseInt(options.getProperty("rounds")) : 7;
		for (int round = 1; round <= rounds; round++) {
			for (Extra extra : Extra.values()) {
				this.rounds.computeIfAbsent(extra, (key) -> new ArrayList<>())
					.add(measure(extra, duration(options, "measure", "1500ms")));
			}
		}
		return table();
	}

	private static Duration duration(SimpleCommandLinePropertySource options, String option, String value) {
		String given = options.getProperty(option);
		return DurationStyle.detectAndParse((given != null) ? given : value);
	}

	private Round measure(Extra extra, Duration time) {
		LongAdder calls = new LongAdder();
		long cpu = cpuNanos();
		long begin = System.nanoTime();
		CompletableFuture.allOf(IntStream.range(0, THREADS).mapToObj((thread) -> CompletableFuture.runAsync(() -> {
			while (System.nanoTime() - begin < time.toNanos()) {
				call(extra, "sku-" + thread);
				calls.increment();
			}
		}, (task) -> new Thread(task).start())).toArray(CompletableFuture[]::new)).join();
		double seconds = (System.nanoTime() - begin) / 1e9;
		return new Round(calls.sum() / seconds, (cpuNanos() - cpu) / 1e3 / calls.sum());
	}

	private static long cpuNanos() {
		return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
	}

	private void call(Extra extra, String sku) {
		this.transaction.executeWithoutResult((status) -> {
			extra.begin(this.jdbc, sku);
			this.stock.deductOne(sku);
			extra.end(this.jdbc, sku);
		});
	}

	private String table() {
		List<Double> without = rates(Extra.NONE);
		StringBuilder table = new StringBuilder("""
				| one statement more | calls per s | of no statement's | client CPU µs per call |
				| --- | ---: | ---: | ---: |
				""");
		this.rounds.forEach((extra, rounds) -> {
			Spread ratio = Spread.ofRatios(rates(extra), without);
			table.append(String.format(Locale.ROOT, "| %s | %.0f | %.2f (%.2f to %.2f) | %.0f |%n", extra.title,
					Spread.of(rates(extra)).median(), ratio.median(), ratio.smallest(), ratio.largest(),
					Spread.of(rounds.stream().map(Round::cpuMicros).toList()).median()));
		});
		return table.toString();
	}

	private List<Double> rates(Extra extra) {
		return this.rounds.getOrDefault(extra, List.of()).stream().map(Round::rate).toList();
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
	 * What the transaction does beside its work.
	 */
	private enum Extra {

		NONE("none"),

		SELECT("`SELECT` of a row by its primary key") {

			@Override
			void begin(JdbcTemplate jdbc, String key) {
				jdbc.queryForObject(SELECT_EPOCH, Long.class, key);
			}

		},

		SELECT_FOR_UPDATE("the same `FOR UPDATE`") {

			@Override
			void begin(JdbcTemplate jdbc, String key) {
				jdbc.queryForObject(SELECT_EPOCH + " FOR UPDATE", Long.class, key);
			}

		},

		UPDATE("`UPDATE` of one column") {

			@Override
			void begin(JdbcTemplate jdbc, String key) {
				jdbc.update("UPDATE lock_row SET epoch = epoch + 1 WHERE lock_key = ?", key);
			}

		},

		UPDATE_AND_QUESTION("the same, and `SELECT … FOR UPDATE` of it before the commit") {

			@Override
			void begin(JdbcTemplate jdbc, String key) {
				UPDATE.begin(jdbc, key);
			}

			@Override
			void end(JdbcTemplate jdbc, String key) {
				SELECT_FOR_UPDATE.begin(jdbc, key);
			}

		};

		private static final String SELECT_EPOCH = "SELECT epoch FROM lock_row WHERE lock_key = ?";

		private final String title;

		Extra(String title) {
			this.title = title;
		}

		void begin(JdbcTemplate jdbc, String key) {
		}

		void end(JdbcTemplate jdbc, String key) {
		}

	}

}
