package io.github.holdfast.transaction;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.provider.Arguments;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.PlatformTransactionManager;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockRequest;
import io.github.holdfast.store.jdbc.JdbcLockBackend;
import io.github.holdfast.testsupport.GuardedNode;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

/** Where the leases of a test application are kept. */
enum LockPlace {

	/** In the business database, where transactions claim the rows of the leases. */
	BUSINESS_DATABASE {

		@Override
		GuardedNode node(LockBackend store, DataSource business, PlatformTransactionManager... managers) {
			return new GuardedNode(store, RowClaims.of(new JdbcLockBackend(() -> business), false), managers);
		}

		@Override
		ApplicationContextRunner application(TestDatabase database) {
			return LockedApplication.jdbc(database.newDatabase()).withPropertyValues("holdfast.jdbc.mode=lease");
		}

		@Override
		DataSource locks(ApplicationContext context) {
			return context.getBean(DataSource.class);
		}

		@Override
		LockBackend store(DataSource locks) {
			return new JdbcLockBackend(() -> locks);
		}

	},

	/**
	 * In another database, with rows in the business database that stand for the leases.
	 */
	OTHER_DATABASE {

		@Override
		GuardedNode node(LockBackend store, DataSource business, PlatformTransactionManager... managers) {
			return new GuardedNode(store, RowClaims.of(() -> business, OtherStore.NAME), managers);
		}

		@Override
		ApplicationContextRunner application(TestDatabase database) {
			return LockedApplication.jdbc(database.newDatabase())
				.withBean(LockDatabase.class)
				.withUserConfiguration(OtherStoreConfiguration.class)
				.withPropertyValues("holdfast.commit-guard=fence");
		}

		@Override
		DataSource locks(ApplicationContext context) {
			return context.getBean(LockDatabase.class).dataSource;
		}

		@Override
		LockBackend store(DataSource locks) {
			return new OtherStore(new JdbcLockBackend(() -> locks));
		}

	};

	abstract GuardedNode node(LockBackend store, DataSource business, PlatformTransactionManager... managers);

	/** An application at the level {@code fence}. */
	abstract ApplicationContextRunner application(TestDatabase database);

	abstract DataSource locks(ApplicationContext context);

	abstract LockBackend store(DataSource locks);

	/** The locks as another node uses them, with the transactions of the application. */
	GuardedNode newNode(ApplicationContext context) {
		return node(store(locks(context)), context.getBean(DataSource.class));
	}

	static Stream<Arguments> onEachDatabase() {
		return Stream.of(TestDatabase.values())
			.flatMap((database) -> Stream.of(values()).map((place) -> Arguments.of(database, place)));
	}

	@Configuration(proxyBeanMethods = false)
	static class OtherStoreConfiguration {

		@Bean
		LockBackend lockBackend(LockDatabase locks) {
			return OTHER_DATABASE.store(locks.dataSource);
		}

	}

	/** A store whose leases the library does not know as those of {@code jdbc}. */
	private record OtherStore(JdbcLockBackend leases) implements LockBackend {

		private static final String NAME = "test";

		@Override
		public @Nullable Lease acquire(LockRequest request) throws InterruptedException {
			Lease lease = this.leases.acquire(request);
			return (lease != null) ? new OtherLease(lease) : null;
		}

		@Override
		public @Nullable LockHolder holder(String key) {
			return this.leases.holder(key);
		}

		@Override
		public String name() {
			return NAME;
		}

	}

	private record OtherLease(LockBackend.Lease lease) implements LockBackend.Lease {

		@Override
		public long epoch() {
			return this.lease.epoch();
		}

		@Override
		public long sentAt() {
			return this.lease.sentAt();
		}

		@Override
		public CompletionStage<Boolean> renew(Duration leaseTime) {
			return this.lease.renew(leaseTime);
		}

		@Override
		public CompletionStage<Boolean> release() {
			return this.lease.release();
		}

	}

	/** A lock table in another database; no DataSource bean, as applications have one. */
	static final class LockDatabase implements AutoCloseable {

		private final HikariDataSource dataSource = TestDatabase.H2.newDatabase().dataSource(8);

		LockDatabase() {
			TestDatabase.H2.createLockTable(this.dataSource);
		}

		@Override
		public void close() {
			this.dataSource.close();
		}

	}

}
