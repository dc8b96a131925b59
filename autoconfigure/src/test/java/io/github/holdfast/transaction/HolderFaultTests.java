package io.github.holdfast.transaction;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.JdbcTemplate;

import io.github.holdfast.testsupport.ChildJvm;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A node dies or stops in the middle of a locked transaction, between reading and
 * writing.
 */
class HolderFaultTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void killedHolderFreesTheLockWithinItsLease(TestDatabase database) throws Exception {
		DatabaseAccess access = database.newRemoteDatabase();
		try (HikariDataSource dataSource = stock(database, access); ChildJvm holder = holder(access)) {
			holder.send("take");
			holder.await("READ", PATIENCE);
			holder.kill();
			long expiresAt = lockColumn(dataSource, "expires_at");
			long[] acquiredAt = new long[1];
			String outcome = HolderWorker.take(dataSource, () -> acquiredAt[0] = lockColumn(dataSource, "acquired_at"));
			assertThat(outcome).isEqualTo("COMMITTED");
			assertThat(quantity(dataSource)).isEqualTo(99);
			assertThat(Duration.ofNanos(TimeUnit.MICROSECONDS.toNanos(acquiredAt[0] - expiresAt)))
				.as("from the end of the lease to the next holder, by the database's clock")
				.isBetween(Duration.ZERO, HolderWorker.LEASE_TIME);
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void pausedHolderCannotCommitOverItsSuccessor(TestDatabase database) throws Exception {
		DatabaseAccess access = database.newRemoteDatabase();
		try (HikariDataSource dataSource = stock(database, access); ChildJvm holder = holder(access)) {
			holder.send("take");
			holder.await("READ", PATIENCE);
			holder.pause();
			assertThat(HolderWorker.take(dataSource, () -> {
			})).isEqualTo("COMMITTED");
			holder.resume();
			holder.send("go on");
			assertThat(holder.await("REJECTED ", PATIENCE)).isEqualTo("LockLostException");
			assertThat(quantity(dataSource)).isEqualTo(99);
			holder.send("take");
			holder.await("READ", PATIENCE);
			holder.send("go on");
			holder.await("COMMITTED", PATIENCE);
			assertThat(quantity(dataSource)).isEqualTo(98);
		}
	}

	private static ChildJvm holder(DatabaseAccess access) {
		return ChildJvm.start(HolderWorker.class, access.url(), access.user(), access.password());
	}

	private static HikariDataSource stock(TestDatabase database, DatabaseAccess access) {
		HikariDataSource dataSource = access.dataSource(4);
		DatabaseAccess.runScript(dataSource, "io/github/holdfast/jdbc/schema-" + database.platform() + ".sql");
		JdbcTemplate jdbc = new JdbcTemplate(dataSource);
		jdbc.execute("CREATE TABLE stock (sku varchar(50) PRIMARY KEY, quantity integer NOT NULL)");
		jdbc.update("INSERT INTO stock VALUES ('A', 100)");
		return dataSource;
	}

	private static int quantity(HikariDataSource dataSource) {
		Integer quantity = new JdbcTemplate(dataSource).queryForObject("SELECT quantity FROM stock", Integer.class);
		return (quantity != null) ? quantity : -1;
	}

	private static long lockColumn(HikariDataSource dataSource, String column) {
		Long value = new JdbcTemplate(dataSource).queryForObject("SELECT " + column + " FROM holdfast_lock",
				Long.class);
		return (value != null) ? value : -1;
	}

}
