package io.github.holdfast.store.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.core.NestedExceptionUtils;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.store.Requests;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.GuardedNode;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.transaction.RowClaims;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

/** The documented privileges are enough, and none of them can be left out. */
class LeastPrivilegeTests {

	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = { "POSTGRESQL", "MARIADB" })
	void commitsAreFencedWithTheDocumentedPrivileges(TestDatabase database) {
		DatabaseAccess owner = database.newLockDatabase();
		try (HikariDataSource admin = owner.dataSource(1)) {
			JdbcTemplate jdbc = new JdbcTemplate(admin);
			jdbc.execute("CREATE TABLE work (id integer)");
			List<String> grants = new ArrayList<>(DocumentedGrants.statements());
			grants.add("GRANT INSERT ON work TO shop_app");
			LockedApplication.jdbc(database.newUser(owner, grants))
				.withPropertyValues("holdfast.jdbc.initialize-schema=never", "holdfast.commit-guard=fence")
				.run((context) -> {
					assertThat(context).hasNotFailed();
					LockTemplate locks = context.getBean(LockTemplate.class);
					JdbcTemplate user = context.getBean(JdbcTemplate.class);
					TransactionTemplate transaction = new TransactionTemplate(
							context.getBean(PlatformTransactionManager.class));
					locks.run("key", () -> transaction
						.executeWithoutResult((status) -> user.update("INSERT INTO work VALUES (1)")));
					assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> locks.run("key", () -> {
						jdbc.update("UPDATE holdfast_lock SET epoch = epoch + 1, owner = 1");
						transaction.executeWithoutResult((status) -> user.update("INSERT INTO work VALUES (2)"));
					}));
				});
			assertThat(jdbc.queryForList("SELECT id FROM work", Integer.class)).containsExactly(1);
		}
	}

	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = { "POSTGRESQL", "MARIADB" })
	void documentedPrivilegesAreEnough(TestDatabase database) throws Throwable {
		using(database, DocumentedGrants.privileges()).call();
	}

	@ParameterizedTest(name = "{0} without {1}")
	@MethodSource("privileges")
	void eachDocumentedPrivilegeIsNeeded(TestDatabase database, String privilege) {
		List<String> others = new ArrayList<>(DocumentedGrants.privileges());
		assertThat(others.remove(privilege)).isTrue();
		assertThat(catchThrowable(using(database, others))).isNotNull()
			.extracting(NestedExceptionUtils::getMostSpecificCause)
			.asInstanceOf(InstanceOfAssertFactories.type(SQLException.class))
			.extracting(SQLException::getMessage, InstanceOfAssertFactories.STRING)
			.contains("denied");
	}

	static Stream<Arguments> privileges() {
		return Stream.of(TestDatabase.POSTGRESQL, TestDatabase.MARIADB)
			.flatMap((database) -> DocumentedGrants.privileges()
				.stream()
				.map((privilege) -> Arguments.of(database, privilege)));
	}

	/** Everything that is done with the tables. */
	private static ThrowingCallable using(TestDatabase database, List<String> privileges) {
		return () -> {
			DatabaseAccess owner = database.newLockDatabase();
			DatabaseAccess user = database.newUser(owner,
					privileges.stream().map((it) -> "GRANT " + it + " TO shop_app").toList());
			try (HikariDataSource admin = owner.dataSource(1); HikariDataSource dataSource = user.dataSource(2)) {
				JdbcLockBackend backend = new JdbcLockBackend(() -> dataSource);
				assertThat(acquire(backend).release().toCompletableFuture().get()).isTrue();
				commitOptimistically(backend, dataSource);
				LockBackend.Lease lease = acquire(backend);
				assertThat(lease.renew(Duration.ofSeconds(30)).toCompletableFuture().get()).isTrue();
				new JdbcTemplate(admin).update("UPDATE holdfast_lock SET expires_at = 1");
				assertThat(acquire(backend).release().toCompletableFuture().get()).isTrue();
				new JdbcLockPurge(() -> dataSource, Duration.ZERO).run(() -> true);
				assertThat(new JdbcTemplate(admin).queryForList("SELECT lock_key FROM holdfast_lock")).isEmpty();
			}
		};
	}

	private static void commitOptimistically(JdbcLockBackend backend, DataSource dataSource) {
		JdbcTransactionManager manager = new JdbcTransactionManager(dataSource);
		try (GuardedNode node = new GuardedNode(backend, RowClaims.of(backend, true), manager)) {
			node.locks()
				.withMode(LockMode.OPTIMISTIC)
				.withKeyPrefix("")
				.run("key", () -> new TransactionTemplate(manager).executeWithoutResult((status) -> {
				}));
		}
	}

	private static LockBackend.Lease acquire(JdbcLockBackend backend) throws InterruptedException {
		LockBackend.Lease lease = backend.acquire(Requests.request("key", Duration.ofSeconds(10)));
		assertThat(lease).isNotNull();
		return lease;
	}

}
