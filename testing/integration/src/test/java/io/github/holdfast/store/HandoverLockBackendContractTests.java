package io.github.holdfast.store;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;

import io.github.holdfast.LockBackend;
import io.github.holdfast.contract.LeaseExpiryContractTests;
import io.github.holdfast.store.jdbc.JdbcLockBackend;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestDatabase;

/**
 * The contract on two JVMs' local queues in front of one lock table.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("race")
class HandoverLockBackendContractTests extends LeaseExpiryContractTests {

	private final HikariDataSource dataSource = TestDatabase.H2.newDatabase().dataSource(20);

	private final LockBackend first = new HandoverLockBackend(new JdbcLockBackend(() -> this.dataSource));

	private final LockBackend second = new HandoverLockBackend(new JdbcLockBackend(() -> this.dataSource));

	@BeforeAll
	void createTable() {
		DatabaseAccess.runScript(this.dataSource, "io/github/holdfast/jdbc/schema-h2.sql");
	}

	@AfterAll
	void close() {
		this.dataSource.close();
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
