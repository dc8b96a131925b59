package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.UUID;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import org.h2.Driver;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;

import io.github.holdfast.core.LockConfigurationException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * Tests for {@link PoolQueries}.
 */
class PoolQueriesTests {

	private final String url = "jdbc:h2:mem:" + UUID.randomUUID();

	@Test
	void poolWithoutAutoCommitIsolatesItsQueries() {
		try (HikariDataSource pool = new HikariDataSource()) {
			pool.setJdbcUrl(this.url);
			pool.setAutoCommit(false);
			PoolQueries.check(new LazyConnectionDataSourceProxy(pool), "transactionManager");
			assertThat(pool.isIsolateInternalQueries()).isTrue();
		}
	}

	@Test
	void poolWithAutoCommitStaysAsItIs() {
		try (HikariDataSource pool = new HikariDataSource()) {
			pool.setJdbcUrl(this.url);
			PoolQueries.check(pool, "transactionManager");
			assertThat(pool.isIsolateInternalQueries()).isFalse();
		}
	}

	@Test
	void poolThatWorksAlreadyIsRefused() {
		HikariConfig config = config();
		try (HikariDataSource pool = new HikariDataSource(config)) {
			assertThatExceptionOfType(LockConfigurationException.class)
				.isThrownBy(() -> PoolQueries.check(pool, "transactionManager"))
				.withMessageContaining("'transactionManager'")
				.withMessageContaining("without auto-commit");
		}
	}

	@Test
	void poolThatIsolatesItsQueriesItselfMayWorkAlready() {
		HikariConfig config = config();
		config.setIsolateInternalQueries(true);
		try (HikariDataSource pool = new HikariDataSource(config)) {
			assertThatNoException().isThrownBy(() -> PoolQueries.check(pool, "transactionManager"));
		}
	}

	private HikariConfig config() {
		HikariConfig config = new HikariConfig();
		config.setJdbcUrl(this.url);
		// The DriverManager has once not found it, beside other tests
		config.setDriverClassName("org.h2.Driver");
		config.setAutoCommit(false);
		return config;
	}

	@Test
	void anotherPoolIsRefusedOnlyWithoutAutoCommit() {
		assertThatNoException().isThrownBy(
				() -> PoolQueries.check(new SimpleDriverDataSource(new Driver(), this.url), "transactionManager"));
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> PoolQueries.check(new WithoutAutoCommit(this.url), "transactionManager"));
	}

	private static final class WithoutAutoCommit extends SimpleDriverDataSource {

		WithoutAutoCommit(String url) {
			super(new Driver(), url);
		}

		@Override
		public Connection getConnection() throws SQLException {
			Connection connection = super.getConnection();
			connection.setAutoCommit(false);
			return connection;
		}

	}

}
