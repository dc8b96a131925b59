package io.github.holdfast.autoconfigure;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIf;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;

import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.GaleraCluster;
import io.github.holdfast.testsupport.LockedApplication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * A real cluster whose servers both take writes: it passes the proof of row locks, as
 * each server has them, and is refused all the same.
 */
@Tag("long")
@EnabledIf(value = "io.github.holdfast.testsupport.GaleraCluster#isInstalled",
		disabledReason = "mariadb-server and galera-4 are not installed")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(300)
class GaleraTests {

	private final GaleraCluster cluster = GaleraCluster.start();

	@AfterAll
	void stop() {
		this.cluster.close();
	}

	@Test
	void startsOnlyIfThatIsAskedFor() throws SQLException {
		create("refused");
		ApplicationContextRunner application = LockedApplication.jdbc(this.cluster.access(0, "refused"));
		application.run((context) -> assertThat(context).getFailure()
			.hasMessageContaining("a cluster in which several servers accept writes"));
		application.withPropertyValues("holdfast.startup-checks=warn")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	/**
	 * Why it is refused: a commit that has its row locked is passed by the next holder,
	 * and finds out only if it is still open then.
	 */
	@Test
	void rowLockOfACommitKeepsNobodyOutOnTheOtherServer() throws SQLException {
		create("passed");
		DatabaseAccess there = this.cluster.access(1, "passed");
		try (HikariDataSource first = this.cluster.access(0, "passed").dataSource(2);
				HikariDataSource second = there.dataSource(2)) {
			JdbcTemplate one = new JdbcTemplate(first);
			one.execute("CREATE TABLE lock_row (id int PRIMARY KEY, epoch int)");
			one.execute("INSERT INTO lock_row VALUES (1, 1)");
			await().ignoreExceptions().until(() -> epoch(second) == 1);
			try (Connection holder = first.getConnection(); Statement statement = holder.createStatement()) {
				holder.setAutoCommit(false);
				try (ResultSet rs = statement.executeQuery("SELECT epoch FROM lock_row LOCK IN SHARE MODE")) {
					assertThat(rs.next()).isTrue();
				}
				assertThatExceptionOfType(RuntimeException.class).as("on the same server")
					.isThrownBy(() -> one
						.execute("SET STATEMENT innodb_lock_wait_timeout = 0 FOR UPDATE lock_row SET epoch = 2"));
				new JdbcTemplate(second).update("UPDATE lock_row SET epoch = 2");
				assertThat(epoch(second)).as("committed on the other one").isEqualTo(2);
				await().until(() -> epoch(first) == 2);
				assertThatExceptionOfType(SQLException.class).as("as it was still open").isThrownBy(holder::commit);
			}
		}
	}

	private static int epoch(HikariDataSource dataSource) {
		return new JdbcTemplate(dataSource).queryForObject("SELECT epoch FROM lock_row", Integer.class);
	}

	private void create(String database) throws SQLException {
		try (HikariDataSource here = this.cluster.access(0, "").dataSource(1);
				HikariDataSource there = this.cluster.access(1, "").dataSource(1)) {
			new JdbcTemplate(here).execute("CREATE DATABASE " + database);
			JdbcTemplate jdbc = new JdbcTemplate(there);
			await().until(() -> jdbc.queryForList("SHOW DATABASES", String.class).contains(database));
		}
	}

}
