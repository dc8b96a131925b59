package io.github.holdfast.store.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

import io.github.holdfast.LockBackend;
import io.github.holdfast.contract.LeaseExpiryContractTests;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.SparedThreads;
import io.github.holdfast.testsupport.TestDatabase;

/** The contract on a lock table, with one connection pool for each client. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class AbstractJdbcLockBackendTests extends LeaseExpiryContractTests {

	private final TestDatabase database;

	private HikariDataSource first;

	private HikariDataSource second;

	AbstractJdbcLockBackendTests(TestDatabase database) {
		this.database = database;
	}

	@BeforeAll
	void open() {
		DatabaseAccess access = this.database.newLockDatabase();
		this.first = access.dataSource(20);
		this.second = access.dataSource(20);
	}

	@AfterEach
	void assertThreadsAreSpared() {
		SparedThreads.assertSpared();
	}

	@AfterAll
	void close() {
		this.first.close();
		this.second.close();
	}

	@Override
	protected LockBackend backend() {
		return new JdbcLockBackend(() -> this.first);
	}

	@Override
	protected LockBackend secondBackend() {
		return new JdbcLockBackend(() -> this.second);
	}

}
