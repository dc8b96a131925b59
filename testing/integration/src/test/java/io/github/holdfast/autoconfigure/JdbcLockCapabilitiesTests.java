package io.github.holdfast.autoconfigure;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.holdfast.LockBackend;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

/**
 * What the backend {@code jdbc} offers on databases with shared row locks.
 */
class JdbcLockCapabilitiesTests {

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void jdbcOffersWhatTheTableSays(TestDatabase database) {
		for (String mode : new String[] { "transaction", "lease" }) {
			LockedApplication.jdbc(database.newDatabase())
				.withPropertyValues("holdfast.jdbc.mode=" + mode)
				.run((context) -> LockBackendTypeTests.assertOffers(context.getBean(LockBackend.class),
						LockBackendType.JDBC));
		}
	}

}
