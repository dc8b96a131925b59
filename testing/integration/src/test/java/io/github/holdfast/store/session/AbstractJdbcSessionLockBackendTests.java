package io.github.holdfast.store.session;

import java.util.List;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

import io.github.holdfast.LockBackend;
import io.github.holdfast.contract.LockBackendContractTests;
import io.github.holdfast.store.jdbc.DocumentedGrants;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The contract on the sessions of a database, with one connection pool for each client,
 * for a user with no more than the documented privileges.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class AbstractJdbcSessionLockBackendTests extends LockBackendContractTests {

	private static final int POOL_SIZE = 20;

	private final TestDatabase database;

	private HikariDataSource firstPool;

	private HikariDataSource secondPool;

	private LockBackend first;

	private LockBackend second;

	AbstractJdbcSessionLockBackendTests(TestDatabase database) {
		this.database = database;
	}

	@BeforeAll
	void open() {
		DatabaseAccess owner = this.database.newDatabase();
		try (HikariDataSource dataSource = owner.dataSource(1)) {
			DatabaseAccess.runScript(dataSource, "io/github/holdfast/jdbc/schema-" + this.database.platform() + ".sql");
		}
		DatabaseAccess user = this.database.newUser(owner, DocumentedGrants.statements());
		this.firstPool = user.dataSource(POOL_SIZE);
		this.secondPool = user.dataSource(POOL_SIZE);
		this.first = backend(this.firstPool);
		this.second = backend(this.secondPool);
	}

	private static LockBackend backend(HikariDataSource pool) {
		DataSource dataSource = SessionDataSource.around(pool);
		return new JdbcSessionLockBackend(() -> dataSource, () -> POOL_SIZE);
	}

	@AfterAll
	void close() {
		try (HikariDataSource first = this.firstPool; HikariDataSource second = this.secondPool) {
			for (HikariDataSource pool : List.of(first, second)) {
				assertThat(pool.getHikariPoolMXBean().getActiveConnections()).as("connections that did not come back")
					.isZero();
			}
		}
	}

	@Override
	protected LockBackend backend() {
		return this.first;
	}

	@Override
	protected LockBackend secondBackend() {
		return this.second;
	}

}
