package io.github.holdfast.transaction;

import java.util.List;

import com.zaxxer.hikari.HikariDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockTemplate;
import io.github.holdfast.store.jdbc.JdbcLockBackend;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.GuardedNode;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * A transaction that is declared read-only and writes all the same, as its driver does
 * not tell the database: nobody can take its lock between the check and the commit.
 */
class ReadOnlyDriverTests {

	@Tag("F53")
	@ParameterizedTest
	@CsvSource({ "MARIADB,", "MARIADB,readOnlyPropagatesToServer=false", "POSTGRESQL,",
			"POSTGRESQL,readOnlyMode=ignore", "H2," })
	void whatIsWrittenInAReadOnlyTransactionIsFenced(TestDatabase database, @Nullable String option) {
		DatabaseAccess access = database.newDatabase().impatient();
		String url = (option != null) ? access.url() + (access.url().contains("?") ? "&" : "?") + option : access.url();
		try (HikariDataSource observer = access.dataSource(2);
				HikariDataSource dataSource = new DatabaseAccess(url, access.user(), access.password()).dataSource(4)) {
			DatabaseAccess.runScript(observer, "io/github/holdfast/jdbc/schema-" + database.platform() + ".sql");
			JdbcTemplate jdbc = new JdbcTemplate(observer);
			jdbc.setQueryTimeout(2);
			jdbc.execute("CREATE TABLE item (id integer NOT NULL PRIMARY KEY)");
			SupersededManager manager = new SupersededManager(dataSource, jdbc);
			TransactionTemplate transaction = new TransactionTemplate(manager);
			transaction.setReadOnly(true);
			JdbcLockBackend backend = new JdbcLockBackend(() -> dataSource);
			try (GuardedNode node = new GuardedNode(backend, RowClaims.of(backend, true), manager)) {
				Throwable failure = catchThrowable(() -> node.locks()
					.run("key", () -> transaction.executeWithoutResult(
							(status) -> new JdbcTemplate(dataSource).update("INSERT INTO item VALUES (1)"))));
				boolean committed = Integer.valueOf(1)
					.equals(jdbc.queryForObject("SELECT count(*) FROM item", Integer.class));
				assertThat(committed).as("written although declared read-only, failure: %s", failure)
					.isEqualTo(failure == null);
				assertThat(committed && manager.superseded).as("committed over the next holder").isFalse();
			}
		}
	}

	/**
	 * Another node takes the lock between the check and the commit, if it can.
	 */
	private static final class SupersededManager extends JdbcTransactionManager {

		private static final long serialVersionUID = 1L;

		private final transient JdbcTemplate other;

		private boolean superseded;

		private SupersededManager(HikariDataSource dataSource, JdbcTemplate other) {
			super(dataSource);
			this.other = other;
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
			try {
				this.superseded = this.other.update("UPDATE holdfast_lock SET epoch = epoch + 1, owner = 1") == 1;
			}
			catch (DataAccessException ex) {
				this.superseded = false;
			}
			super.doCommit(status);
		}

	}

}
