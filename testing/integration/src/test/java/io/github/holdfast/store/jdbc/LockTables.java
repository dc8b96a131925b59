package io.github.holdfast.store.jdbc;

import java.util.stream.Stream;

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
		HikariDataSource dataSource = access.dataSource(16, (config) -> {
			config.setAutoCommit(autoCommit);
			config.setIsolateInternalQueries(!autoCommit);
			config.setTransactionIsolation(isolation);
		});
		database.createLockTable(dataSource);
		return dataSource;
	}

}
