package io.github.holdfast.fence;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

import io.github.holdfast.LockBackend;
import io.github.holdfast.contract.LeaseExpiryContractTests;
import io.github.holdfast.store.jdbc.JdbcLockBackend;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestDatabase;

/**
 * The contract on a store whose leases are installed in a fence table of another
 * database.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class FencedLockBackendContractTests extends LeaseExpiryContractTests {

	private final HikariDataSource store = TestDatabase.H2.newDatabase().dataSource(20);

	private final HikariDataSource business = TestDatabase.H2.newDatabase().dataSource(20);

	@BeforeAll
	void createTables() {
		DatabaseAccess.runScript(this.store, "io/github/holdfast/jdbc/schema-h2.sql");
		DatabaseAccess.runScript(this.business, "io/github/holdfast/jdbc/fence-schema-h2.sql");
	}

	@AfterAll
	void close() {
		this.store.close();
		this.business.close();
	}

	@Override
	protected LockBackend backend() {
		return new FencedLockBackend(new JdbcLockBackend(() -> this.store),
				new FenceTable(() -> this.business, "test"));
	}

	@Override
	protected LockBackend secondBackend() {
		return backend();
	}

}
