package io.github.holdfast.transaction;

import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.params.provider.Arguments;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.holdfast.LockBackend;
import io.github.holdfast.fence.FenceTable;
import io.github.holdfast.fence.FencedLockBackend;
import io.github.holdfast.fence.RowFence;
import io.github.holdfast.optimistic.OptimisticLockBackend;
import io.github.holdfast.store.HandoverLockBackend;
import io.github.holdfast.store.jdbc.JdbcLockBackend;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

/**
 * Where the locks of a test application are kept.
 */
enum LockPlace {

	/** In the business database, where the lock table is the fence. */
	BUSINESS_DATABASE("holdfast_lock", "schema") {

		@Override
		RowFence fence(DataSource business) {
			return JdbcLockBackend.fence(() -> business);
		}

		@Override
		LockBackend backend(LockBackend store, DataSource business) {
			return store;
		}

		@Override
		ApplicationContextRunner application(TestDatabase database) {
			return LockedApplication.jdbc(database.newDatabase());
		}

		@Override
		DataSource locks(ApplicationContext context) {
			return context.getBean(DataSource.class);
		}

	},

	/** In another database, with a fence table in the business database. */
	OTHER_DATABASE("holdfast_fence", "fence-schema") {

		@Override
		RowFence fence(DataSource business) {
			return table(business).fence();
		}

		@Override
		LockBackend backend(LockBackend store, DataSource business) {
			return new FencedLockBackend(store, table(business));
		}

		private FenceTable table(DataSource business) {
			return new FenceTable(() -> business, "test");
		}

		@Override
		ApplicationContextRunner application(TestDatabase database) {
			return LockedApplication.jdbc(database.newDatabase())
				.withBean(LockDatabase.class)
				.withBean(TestDatabase.class, () -> database)
				.withUserConfiguration(FencedStore.class);
		}

		@Override
		DataSource locks(ApplicationContext context) {
			return context.getBean(LockDatabase.class).dataSource;
		}

	};

	private final String fenceTable;

	private final String fenceScript;

	LockPlace(String fenceTable, String fenceScript) {
		this.fenceTable = fenceTable;
		this.fenceScript = fenceScript;
	}

	/**
	 * The table in the business database that commits are checked against.
	 */
	String fenceTable() {
		return this.fenceTable;
	}

	void createFenceTable(DataSource business, TestDatabase database) {
		DatabaseAccess.runScript(business,
				"io/github/holdfast/jdbc/" + this.fenceScript + "-" + database.platform() + ".sql");
	}

	abstract RowFence fence(DataSource business);

	abstract LockBackend backend(LockBackend store, DataSource business);

	/**
	 * An application at the level {@code fence}.
	 */
	abstract ApplicationContextRunner application(TestDatabase database);

	/**
	 * The database with the lock table of an application.
	 */
	abstract DataSource locks(ApplicationContext context);

	/**
	 * The store of an application as another node uses it.
	 */
	LockBackend newNode(ApplicationContext context) {
		return backend(new JdbcLockBackend(() -> locks(context)), context.getBean(DataSource.class));
	}

	static Stream<Arguments> onEachDatabase() {
		return Stream.of(TestDatabase.values())
			.flatMap((database) -> Stream.of(values()).map((place) -> Arguments.of(database, place)));
	}

	@Configuration(proxyBeanMethods = false)
	static class FencedStore {

		@Bean
		RowFence fence(DataSource business, TestDatabase database) {
			OTHER_DATABASE.createFenceTable(business, database);
			return OTHER_DATABASE.fence(business);
		}

		@Bean
		LockBackend lockBackend(LockDatabase locks, DataSource business, RowFence fence) {
			LockBackend queue = new HandoverLockBackend(
					OTHER_DATABASE.backend(new JdbcLockBackend(() -> locks.dataSource), business));
			return new OptimisticLockBackend(queue, fence);
		}

	}

	/**
	 * A lock table outside of the business database. Not a DataSource bean itself, as
	 * applications have one.
	 */
	static final class LockDatabase implements AutoCloseable {

		private final HikariDataSource dataSource = TestDatabase.H2.newDatabase().dataSource(8);

		LockDatabase() {
			DatabaseAccess.runScript(this.dataSource, "io/github/holdfast/jdbc/schema-h2.sql");
		}

		@Override
		public void close() {
			this.dataSource.close();
		}

	}

}
