package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/** Pools whose connections are in a transaction already, with an old snapshot. */
class OldSnapshotTests {

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void withoutTheLibraryTheTransactionReadsWhatWasCommittedThen(TestDatabase database) {
		DatabaseAccess access = newStock(database);
		application(database, access).withPropertyValues("holdfast.enabled=false").run((context) -> {
			takeOneAfterTheConnectionWasMade(context, access);
			assertThat(context.getBean(Stock.class).read()).isEqualTo(100);
		});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void transactionsUnderALockReadWhatIsCommitted(TestDatabase database) {
		DatabaseAccess access = newStock(database);
		application(database, access).run((context) -> {
			takeOneAfterTheConnectionWasMade(context, access);
			assertThat(context.getBean(Stock.class).read()).isEqualTo(99);
			takeOneAfterTheConnectionWasMade(context, access);
			assertThat(context.getBean(Stock.class).readInNewTransaction()).isEqualTo(98);
		});
	}

	/**
	 * The transaction that the pool has left open keeps the level at which it has begun.
	 */
	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = { "MARIADB" })
	void transactionAtReadCommittedReadsWhatIsCommitted(TestDatabase database) {
		DatabaseAccess access = newStock(database);
		application(database, access).run((context) -> {
			takeOneAfterTheConnectionWasMade(context, access);
			assertThat(context.getBean(Stock.class).readAtReadCommitted()).isEqualTo(99);
		});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void transactionOfAnEntityManagerReadsWhatIsCommitted(TestDatabase database) {
		DatabaseAccess access = newStock(database);
		application(database, access).withConfiguration(AutoConfigurations.of(HibernateJpaAutoConfiguration.class))
			.withBean(PersistenceManagedTypes.class,
					() -> PersistenceManagedTypes.of(JpaStockService.Stock.class.getName()))
			.withPropertyValues("spring.jpa.properties.hibernate.connection.provider_disables_autocommit=true")
			.run((context) -> {
				takeOneAfterTheConnectionWasMade(context, access);
				assertThat(context.getBean(Stock.class).read()).isEqualTo(99);
			});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void connectionThatIsFetchedLateReadsWhatIsCommitted(TestDatabase database) {
		DatabaseAccess access = newStock(database);
		application(database, access).withBean(LateConnections.class).run((context) -> {
			takeOneAfterTheConnectionWasMade(context, access);
			assertThat(context.getBean(Stock.class).read()).isEqualTo(99);
		});
	}

	private static DatabaseAccess newStock(TestDatabase database) {
		DatabaseAccess access = database.newRemoteDatabase();
		try (HikariDataSource dataSource = access.dataSource(1)) {
			JdbcTemplate jdbc = new JdbcTemplate(dataSource);
			jdbc.execute("CREATE TABLE stock (sku varchar(50) PRIMARY KEY, quantity integer NOT NULL)");
			jdbc.update("INSERT INTO stock VALUES ('A', 100)");
		}
		return access;
	}

	private static ApplicationContextRunner application(TestDatabase database, DatabaseAccess access) {
		String isolation = (database == TestDatabase.H2) ? "TRANSACTION_SERIALIZABLE" : "TRANSACTION_REPEATABLE_READ";
		return LockedApplication.jdbc(access)
			.withPropertyValues("holdfast.backend=local", "holdfast.commit-guard=lease",
					"spring.datasource.hikari.auto-commit=false", "spring.datasource.hikari.maximum-pool-size=1",
					"spring.datasource.hikari.connection-init-sql=SELECT count(*) FROM stock",
					"spring.datasource.hikari.transaction-isolation=" + isolation)
			.withBean(Stock.class);
	}

	private static void takeOneAfterTheConnectionWasMade(ApplicationContext context, DatabaseAccess access)
			throws SQLException {
		HikariDataSource pool = context.getBean(DataSource.class).unwrap(HikariDataSource.class);
		try (Connection any = pool.getConnection()) {
			pool.evictConnection(any);
		}
		pool.getConnection().close();
		try (HikariDataSource other = access.dataSource(1)) {
			assertThat(new JdbcTemplate(other).update("UPDATE stock SET quantity = quantity - 1")).isOne();
		}
	}

	static class LateConnections implements BeanPostProcessor {

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			return (bean instanceof HikariDataSource pool) ? new LazyConnectionDataSourceProxy(pool) : bean;
		}

	}

	static class Stock {

		private final JdbcTemplate jdbc;

		Stock(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		private int quantity() {
			return Objects
				.requireNonNull(this.jdbc.queryForObject("SELECT quantity FROM stock WHERE sku = 'A'", Integer.class));
		}

		@DistributedLock(key = "'A'")
		@Transactional
		public int read() {
			return quantity();
		}

		@DistributedLock(key = "'A'")
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public int readInNewTransaction() {
			return quantity();
		}

		@DistributedLock(key = "'A'")
		@Transactional(isolation = Isolation.READ_COMMITTED)
		public int readAtReadCommitted() {
			return quantity();
		}

	}

}
