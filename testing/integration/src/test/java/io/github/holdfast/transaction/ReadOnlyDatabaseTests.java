package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/** A database that takes no more writes, as one to which a fail-over went too early. */
class ReadOnlyDatabaseTests {

	private static final Runnable NOTHING = () -> {
	};

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void whoHoldsALockMeanwhileEitherCommitsOrIsTold(TestDatabase database) throws SQLException {
		try (ReadOnlySwitch readOnly = new ReadOnlySwitch(database)) {
			readOnly.application().run((context) -> {
				StockService stock = context.getBean(StockService.class);
				HikariDataSource pool = context.getBean(DataSource.class).unwrap(HikariDataSource.class);
				Throwable failure = catchThrowable(() -> stock.take("A", () -> readOnly.set(true, pool)));
				int quantity = (failure == null) ? 99 : 100;
				assertThat(stock.quantity("A")).isEqualTo(quantity);
				readOnly.set(false, pool);
				stock.take("A", NOTHING);
				assertThat(stock.quantity("A")).isEqualTo(quantity - 1);
			});
		}
	}

	/** Makes a database refuse writes, as its administrators do. */
	private static final class ReadOnlySwitch implements AutoCloseable {

		private final TestDatabase database;

		private final DatabaseAccess owner;

		private final Connection connection;

		private ReadOnlySwitch(TestDatabase database) throws SQLException {
			this.database = database;
			this.owner = database.newDatabase();
			this.connection = DriverManager.getConnection(this.owner.url(), this.owner.user(), this.owner.password());
		}

		private ApplicationContextRunner application() {
			return LockedApplication.jdbc((this.database == TestDatabase.MARIADB) ? withoutExemption() : this.owner)
				.withBean(StockService.class)
				.withPropertyValues("holdfast.commit-guard=fence", "holdfast.lease-time=4s", "holdfast.wait-time=30s",
						// A connection that is just being opened is not evicted
						"spring.datasource.hikari.minimum-idle=0");
		}

		private DatabaseAccess withoutExemption() {
			return this.database.newUser(this.owner,
					List.of("GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON *.* TO shop_app"));
		}

		/** PostgreSQL tells new sessions only. */
		private void set(boolean readOnly, HikariDataSource pool) {
			try {
				set(readOnly);
			}
			catch (SQLException ex) {
				throw new IllegalStateException(ex);
			}
			pool.getHikariPoolMXBean().softEvictConnections();
		}

		private void set(boolean readOnly) throws SQLException {
			try (Statement statement = this.connection.createStatement()) {
				statement.execute((this.database == TestDatabase.MARIADB) ? "SET GLOBAL read_only = " + readOnly
						: "ALTER DATABASE " + this.connection.getCatalog() + " SET default_transaction_read_only = "
								+ readOnly);
			}
		}

		@Override
		public void close() throws SQLException {
			try {
				set(false);
			}
			finally {
				this.connection.close();
			}
		}

	}

}
