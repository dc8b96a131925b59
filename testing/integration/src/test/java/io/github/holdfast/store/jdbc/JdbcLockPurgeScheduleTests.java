package io.github.holdfast.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/** When idle lock rows are purged, and what happens if they cannot be. */
@ExtendWith(OutputCaptureExtension.class)
class JdbcLockPurgeScheduleTests {

	@Test
	void rowsArePurgedAgainAndAgainUntilTheEnd() {
		try (HikariDataSource dataSource = LockTables.create(TestDatabase.H2)) {
			JdbcTemplate jdbc = new JdbcTemplate(dataSource);
			JdbcLockPurge schedule = schedule(dataSource);
			for (int restart = 0; restart < 2; restart++) {
				schedule.start();
				for (int i = 0; i < 2; i++) {
					insertIdleRow(jdbc);
					Awaitility.await().until(() -> rows(jdbc) == 0);
				}
				schedule.stop();
				assertThat(schedule.isRunning()).isFalse();
				assertNoThread();
			}
		}
	}

	@Test
	void stopWaitsForThePageThatIsBeingPurged() throws InterruptedException {
		CountDownLatch connecting = new CountDownLatch(1);
		CountDownLatch goOn = new CountDownLatch(1);
		try (HikariDataSource dataSource = LockTables.create(TestDatabase.H2)) {
			JdbcLockPurge schedule = schedule(new DelegatingDataSource(dataSource) {

				@Override
				public Connection getConnection() throws SQLException {
					connecting.countDown();
					Awaitility.await().until(() -> goOn.getCount() == 0);
					return super.getConnection();
				}

			});
			schedule.start();
			connecting.await();
			Thread stop = new Thread(schedule::stop);
			stop.start();
			Awaitility.await().until(() -> stop.getState() == Thread.State.TIMED_WAITING);
			goOn.countDown();
			stop.join();
			assertNoThread();
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void purgeThatIsNotAllowedIsSwitchedOffWithOneWarning(TestDatabase database, CapturedOutput output) {
		DatabaseAccess owner = database.newDatabase();
		LockedApplication.jdbc(owner).run((context) -> {
			JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
			insertIdleRow(jdbc);
			DatabaseAccess user = database.newUser(owner,
					List.of("GRANT SELECT, INSERT, UPDATE ON holdfast_lock TO shop_app"));
			try (HikariDataSource dataSource = user.dataSource(2)) {
				JdbcLockPurge schedule = schedule(dataSource);
				schedule.start();
				try {
					Awaitility.await().until(() -> output.getAll().contains("grant DELETE"));
				}
				finally {
					schedule.stop();
				}
			}
			assertThat(rows(jdbc)).isOne();
		});
		assertThat(output.getAll().lines().filter((line) -> line.contains("could not be deleted"))).singleElement()
			.asString()
			.contains("WARN");
	}

	@Test
	void failedPurgeIsLoggedAndTriedAgain(CapturedOutput output) {
		try (HikariDataSource dataSource = LockTables.create(TestDatabase.H2)) {
			JdbcTemplate jdbc = new JdbcTemplate(dataSource);
			jdbc.execute("ALTER TABLE holdfast_lock RENAME TO elsewhere");
			JdbcLockPurge schedule = schedule(dataSource);
			schedule.start();
			Awaitility.await().until(() -> output.getAll().contains("could not be deleted"));
			jdbc.execute("ALTER TABLE elsewhere RENAME TO holdfast_lock");
			insertIdleRow(jdbc);
			Awaitility.await().until(() -> rows(jdbc) == 0);
			schedule.stop();
		}
	}

	@ParameterizedTest
	@CsvSource({ "PT1M, PT1M", "PT1H, PT6M", "PT168H, PT6H", "PT8760H, PT6H" })
	void intervalIsATenthWithinLimits(Duration purgeAfter, Duration interval) {
		assertThat(JdbcLockPurge.interval(purgeAfter)).isEqualTo(interval);
	}

	@Test
	void applicationPurgesAndLeavesNoThread() {
		LockedApplication.jdbc(TestDatabase.H2.newDatabase())
			.run((context) -> assertThat(context.getBean(JdbcLockPurge.class).isRunning()).isTrue());
		assertNoThread();
	}

	@Test
	void zeroPurgesNever() {
		LockedApplication.jdbc(TestDatabase.H2.newDatabase())
			.withPropertyValues("holdfast.jdbc.retention=0")
			.run((context) -> {
				assertThat(context.getBean(JdbcLockPurge.class).isRunning()).isFalse();
				assertNoThread();
			});
	}

	@Test
	void otherBackendsDoNotPurge() {
		LockedApplication.jdbc(TestDatabase.H2.newDatabase())
			.withPropertyValues("holdfast.backend=local")
			.run((context) -> assertThat(context).doesNotHaveBean(JdbcLockPurge.class));
	}

	private static JdbcLockPurge schedule(DataSource dataSource) {
		return new JdbcLockPurge(() -> dataSource, Duration.ofDays(1), Duration.ofMillis(20));
	}

	private static void insertIdleRow(JdbcTemplate jdbc) {
		jdbc.update("INSERT INTO holdfast_lock (lock_key, epoch, expires_at) VALUES (?, 1, 0)", "idle");
	}

	private static int rows(JdbcTemplate jdbc) {
		return jdbc.queryForObject("SELECT count(*) FROM holdfast_lock WHERE epoch = 1", Integer.class);
	}

	private static void assertNoThread() {
		Awaitility.await()
			.untilAsserted(() -> assertThat(Thread.getAllStackTraces().keySet()).extracting(Thread::getName)
				.noneMatch((name) -> name.startsWith("holdfast-purge-")));
	}

}
