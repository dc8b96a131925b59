package io.github.holdfast.transaction;

import java.time.Duration;
import java.util.UUID;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.JdbcTemplate;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockRequest;
import io.github.holdfast.store.jdbc.JdbcLockBackend;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How many statements a lock takes, each of which is a round trip.
 */
class JdbcLockStatementTests {

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void lockThatIsFreeIsTakenAndReleased(TestDatabase database) throws Exception {
		run(database, (statements, backend) -> {
			release(acquire(backend));
			statements.clear();
			LockBackend.Lease lease = acquire(backend);
			assertThat(statements.statements()).extracting(JdbcLockStatementTests::verb).containsExactly("UPDATE");
			statements.clear();
			release(lease);
			assertThat(statements.statements()).extracting(JdbcLockStatementTests::verb).containsExactly("UPDATE");
		});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void newLockIsNotFoundAndInserted(TestDatabase database) throws Exception {
		run(database, (statements, backend) -> {
			acquire(backend);
			assertThat(statements.statements()).extracting(JdbcLockStatementTests::verb)
				.containsExactly("UPDATE", "SELECT", "INSERT");
		});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void renewalIsOneStatement(TestDatabase database) throws Exception {
		run(database, (statements, backend) -> {
			LockBackend.Lease lease = acquire(backend);
			for (int renewal = 0; renewal < 2; renewal++) {
				statements.clear();
				assertThat(lease.renew(Duration.ofSeconds(30)).toCompletableFuture().join()).isTrue();
				assertThat(statements.statements()).singleElement()
					.asString()
					.contains("UPDATE holdfast_lock SET expires_at");
			}
			statements.clear();
			release(lease);
			assertThat(statements.statements()).as("release of a lease that was renewed").hasSize(1);
		});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void leaseThatHasRunOutIsReadLockedAndTaken(TestDatabase database) throws Exception {
		run(database, (statements, backend) -> {
			acquire(backend);
			new JdbcTemplate(statements).update("UPDATE holdfast_lock SET expires_at = 1");
			statements.clear();
			acquire(backend);
			assertThat(statements.statements()).extracting(JdbcLockStatementTests::verb)
				.containsExactly("UPDATE", "SELECT", "SELECT", "UPDATE", "commit");
		});
	}

	private static String verb(String statement) {
		return statement.split("\\s", 2)[0];
	}

	private static LockBackend.Lease acquire(JdbcLockBackend backend) throws InterruptedException {
		LockBackend.Lease lease = backend.acquire(new LockRequest("key", "test", LockMode.EXCLUSIVE, false,
				Duration.ofSeconds(10), Duration.ofSeconds(30), UUID.randomUUID().toString(), "test"));
		assertThat(lease).isNotNull();
		return lease;
	}

	private static void release(LockBackend.Lease lease) {
		assertThat(lease.release().toCompletableFuture().join()).isTrue();
	}

	private static void run(TestDatabase database, Scenario scenario) throws Exception {
		try (HikariDataSource pool = database.newDatabase().dataSource(2)) {
			DatabaseAccess.runScript(pool, "io/github/holdfast/jdbc/schema-" + database.platform() + ".sql");
			RecordingDataSource statements = new RecordingDataSource(pool);
			scenario.run(statements, new JdbcLockBackend(() -> statements));
		}
	}

	@FunctionalInterface
	private interface Scenario {

		void run(RecordingDataSource statements, JdbcLockBackend backend) throws Exception;

	}

}
