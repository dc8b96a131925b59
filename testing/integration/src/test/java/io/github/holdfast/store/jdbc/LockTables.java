package io.github.holdfast.store.jdbc;

import java.util.stream.Stream;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.provider.Arguments;

import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestDatabase;

/** Empty lock tables, in pools of all kinds. */
final class LockTables {

	private LockTables() {
	}

	/** The isolation levels and auto-commit modes that pools may have. */
	static Stream<Arguments> pools() {
		return Stream.of(TestDatabase.values())
			.flatMap((database) -> Stream
				.of("TRANSACTION_READ_COMMITTED", "TRANSACTION_REPEATABLE_READ", "TRANSACTION_SERIALIZABLE")
				.flatMap((isolation) -> Stream.of(true, false)
					.map((autoCommit) -> Arguments.of(database, isolation, autoCommit))));
	}

	static HikariDataSource create(TestDatabase database) {
		return create(database, database.newDatabase(), null, true);
	}

	static HikariDataSource create(TestDatabase database, DatabaseAccess access, @Nullable String isolation,
			boolean autoCommit) {
		HikariConfig config = new HikariConfig();
		config.setJdbcUrl(access.url());
		config.setUsername(access.user());
		config.setPassword(access.password());
		config.setMaximumPoolSize(16);
		config.setMinimumIdle(0);
		config.setAutoCommit(autoCommit);
		config.setTransactionIsolation(isolation);
		HikariDataSource dataSource = new HikariDataSource(config);
		DatabaseAccess.runScript(dataSource, "io/github/holdfast/jdbc/schema-" + database.platform() + ".sql");
		return dataSource;
	}

}
