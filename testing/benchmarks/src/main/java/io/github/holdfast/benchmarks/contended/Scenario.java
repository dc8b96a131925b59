package io.github.holdfast.benchmarks.contended;

import java.util.Arrays;
import java.util.List;

import io.github.holdfast.benchmarks.Contender;
import io.github.holdfast.benchmarks.Contender.Reach;
import io.github.holdfast.benchmarks.Store;

/** Who wants the one lock, and what for. */
enum Scenario {

	ONE_JVM("one key, empty body, 16 threads", 1), TWO_JVMS("one key, empty body, 2 JVMs × 8 threads", 2),
	TRANSACTION("one key, a transaction on MariaDB, 16 threads", 1),
	TRANSACTION_POSTGRESQL("one key, a transaction on PostgreSQL, 16 threads", 1),
	TRANSACTION_TWO_JVMS("one key, a transaction on MariaDB, 2 JVMs × 8 threads", 2),
	TRANSACTION_POSTGRESQL_TWO_JVMS("one key, a transaction on PostgreSQL, 2 JVMs × 8 threads", 2),
	TRANSACTION_WITHOUT_AUTO_COMMIT("one key, a transaction on MariaDB, 16 threads, `auto-commit=false`", 1),
	TRANSACTION_OVER_NETWORK("one key, a transaction on a distant MariaDB, 16 threads", 1),
	DISTINCT_KEYS("a key and a row for each of 16 threads, a transaction on MariaDB", 1),
	DISTINCT_KEYS_MYSQL_DRIVER("a key and a row for each of 16 threads, a transaction on MariaDB by MySQL's driver", 1),
	DISTINCT_KEYS_OVER_NETWORK("a key and a row for each of 16 threads, a transaction on a distant MariaDB", 1),
	DISTINCT_KEYS_POSTGRESQL("a key and a row for each of 16 threads, a transaction on PostgreSQL", 1),
	DISTINCT_KEYS_POSTGRESQL_OVER_NETWORK(
			"a key and a row for each of 16 threads, a transaction on a distant PostgreSQL", 1),
	TRANSACTION_POSTGRESQL_EIGHT_JVMS("one key, a transaction on PostgreSQL, 8 JVMs × 2 threads", 8),
	DISTINCT_KEYS_POSTGRESQL_EIGHT_JVMS(
			"a key and a row for each of 8 × 2 threads in 8 JVMs, a transaction on PostgreSQL", 8);

	private final String title;

	private final int jvms;

	Scenario(String title, int jvms) {
		this.title = title;
		this.jvms = jvms;
	}

	String title() {
		return this.title;
	}

	int jvms() {
		return this.jvms;
	}

	int threads() {
		return 16 / this.jvms;
	}

	boolean hasDistinctKeys() {
		return name().startsWith(DISTINCT_KEYS.name());
	}

	boolean hasTransactions() {
		return this != ONE_JVM && this != TWO_JVMS;
	}

	boolean hasMySqlDriver() {
		return this == DISTINCT_KEYS_MYSQL_DRIVER;
	}

	boolean isDistant() {
		return name().endsWith("_OVER_NETWORK");
	}

	String jdbcUrl() {
		return name().contains("POSTGRESQL") ? Store.POSTGRESQL_JDBC_URL : Store.JDBC_URL;
	}

	boolean hasAutoCommit() {
		return this != TRANSACTION_WITHOUT_AUTO_COMMIT;
	}

	/** Those whose locks reach far enough. */
	List<Contender> contenders() {
		return Arrays.stream(Contender.values()).filter((contender) -> suits(contender.reach())).toList();
	}

	private boolean suits(Reach reach) {
		return switch (reach) {
			case ALL_JVMS -> true;
			case ONE_JVM -> this.jvms == 1;
			case TRANSACTIONS -> hasTransactions();
			case NOBODY -> hasDistinctKeys();
		};
	}

	/** What the others are compared with. */
	List<Contender> baselines() {
		if (!hasTransactions()) {
			return List.of(Contender.REDISSON);
		}
		if (hasDistinctKeys()) {
			return List.of(Contender.REDISSON, Contender.NO_LOCK, Contender.HOLDFAST_REDIS,
					Contender.SPRING_INTEGRATION_JDBC);
		}
		return (this.jvms > 1) ? List.of(Contender.REDISSON, Contender.SELECT_FOR_UPDATE)
				: List.of(Contender.REDISSON, Contender.FAIR_REENTRANT_LOCK);
	}

}
