package io.github.holdfast.migration;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.holdfast.LockBackend;
import io.github.holdfast.contract.LeaseExpiryContractTests;
import io.github.holdfast.jdbc.JdbcLockBackend;
import io.github.holdfast.redis.RedisLockBackend;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.TestDatabase;

/**
 * The contract on a lock table and Redis together.
 */
@Tag("long")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PairedLockBackendContractTests extends LeaseExpiryContractTests {

	private final HikariDataSource database = TestDatabase.H2.newDatabase().dataSource(20);

	private final RedisConnectionFactory redis = RedisConnections.lettuce(RedisServer.shared().port());

	@BeforeAll
	void createTables() {
		DatabaseAccess.runScript(this.database, "io/github/holdfast/jdbc/schema-h2.sql");
	}

	@AfterAll
	void close() {
		this.database.close();
		RedisConnections.close(this.redis);
	}

	@Override
	protected LockBackend backend() {
		LockPlace table = new LockPlace("jdbc", new JdbcLockBackend(() -> this.database), null, "");
		LockPlace redis = new LockPlace("redis", new RedisLockBackend(() -> this.redis), null, "");
		return new PairedLockBackend(table, () -> redis);
	}

	@Override
	protected LockBackend secondBackend() {
		return backend();
	}

}
