package io.github.holdfast.transaction;

import java.time.Duration;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.JdbcTemplate;

import io.github.holdfast.testsupport.ChildJvm;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A node with a lock of a database session dies or stops in the middle of a locked call.
 */
class SessionHolderFaultTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final Runnable NOTHING = () -> {
	};

	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = { "MARIADB", "POSTGRESQL" })
	@Tag("F12")
	@Tag("F13")
	void stoppedHolderKeepsItsLockAndKilledOneFreesIt(TestDatabase database) throws Exception {
		DatabaseAccess access = database.newDatabase();
		try (HikariDataSource pool = access.dataSource(4); ChildJvm holder = holder(database, access)) {
			holder.await("READ", PATIENCE);
			holder.pause();
			assertThat(SessionHolderWorker.take(pool, Duration.ofMillis(300), NOTHING))
				.isEqualTo("REJECTED LockNotAcquiredException");
			holder.kill();
			assertThat(SessionHolderWorker.take(pool, PATIENCE, NOTHING)).isEqualTo("COMMITTED");
			assertThat(quantity(pool)).isEqualTo(99);
		}
	}

	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = { "MARIADB", "POSTGRESQL" })
	@Tag("F13")
	void resumedHolderCommitsAndIsWaitedFor(TestDatabase database) throws Exception {
		DatabaseAccess access = database.newDatabase();
		try (HikariDataSource pool = access.dataSource(4); ChildJvm holder = holder(database, access)) {
			holder.await("READ", PATIENCE);
			holder.pause();
			holder.resume();
			holder.send("go on");
			assertThat(SessionHolderWorker.take(pool, PATIENCE, NOTHING)).isEqualTo("COMMITTED");
			holder.await("COMMITTED", PATIENCE);
			assertThat(quantity(pool)).isEqualTo(98);
		}
	}

	private static ChildJvm holder(TestDatabase database, DatabaseAccess access) {
		try (HikariDataSource admin = access.dataSource(1)) {
			DatabaseAccess.runScript(admin, "io/github/holdfast/jdbc/schema-" + database.platform() + ".sql");
			JdbcTemplate jdbc = new JdbcTemplate(admin);
			jdbc.execute("CREATE TABLE stock (sku varchar(50) PRIMARY KEY, quantity integer NOT NULL)");
			jdbc.update("INSERT INTO stock VALUES ('A', 100)");
		}
		return ChildJvm.start(SessionHolderWorker.class, access.url(), access.user(), access.password());
	}

	private static int quantity(HikariDataSource pool) {
		Integer quantity = new JdbcTemplate(pool).queryForObject("SELECT quantity FROM stock", Integer.class);
		assertThat(quantity).isNotNull();
		return quantity;
	}

}
