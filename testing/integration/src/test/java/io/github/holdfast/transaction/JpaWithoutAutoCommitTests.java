package io.github.holdfast.transaction;

import java.util.Map;

import com.zaxxer.hikari.HikariDataSource;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import org.hibernate.jpa.HibernatePersistenceProvider;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.orm.jpa.EntityManagerFactoryUtils;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.JpaVendorAdapter;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.store.jdbc.JdbcLockBackend;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.GuardedNode;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** In a pool without auto-commit, JPA's check keeps its row locked until the commit. */
class JpaWithoutAutoCommitTests {

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void nobodyTakesTheLockBetweenCheckAndCommit(TestDatabase database) {
		run(database, false, new HibernateJpaVendorAdapter(), (dataSource, jdbc, entities) -> {
			SupersededManager manager = new SupersededManager(entities, jdbc);
			manager.setDataSource(dataSource);
			persist(dataSource, manager, entities);
			assertThat(manager.superseded).isFalse();
			assertThat(jdbc.queryForObject("SELECT count(*) FROM item", Integer.class)).isOne();
		});
	}

	/** Without a vendor adapter nobody knows the connection of the transaction. */
	@ParameterizedTest
	@EnumSource(names = "H2")
	void transactionWhoseConnectionIsNotKnownIsRefused(TestDatabase database) {
		run(database, false, null, JpaWithoutAutoCommitTests::assertRefused);
	}

	/** Hibernate was told that the pool has switched auto-commit off, but it has not. */
	@ParameterizedTest
	@EnumSource(names = "H2")
	void transactionInAutoCommitModeIsRefused(TestDatabase database) {
		run(database, true, new HibernateJpaVendorAdapter(), JpaWithoutAutoCommitTests::assertRefused);
	}

	private static void assertRefused(HikariDataSource dataSource, JdbcTemplate jdbc, EntityManagerFactory entities) {
		JpaTransactionManager manager = new JpaTransactionManager(entities);
		manager.setDataSource(dataSource);
		assertThatIllegalStateException().isThrownBy(() -> persist(dataSource, manager, entities))
			.withMessageContaining("HibernateJpaVendorAdapter")
			.withMessageContaining("provider_disables_autocommit");
		assertThat(jdbc.queryForObject("SELECT count(*) FROM item", Integer.class)).isZero();
	}

	private static void run(TestDatabase database, boolean autoCommit, @Nullable JpaVendorAdapter vendor, Test test) {
		DatabaseAccess access = database.newDatabase().impatient();
		try (HikariDataSource observer = access.dataSource(2);
				HikariDataSource dataSource = access.dataSource(4, (config) -> {
					config.setAutoCommit(autoCommit);
					// As Holdfast sets it in an application
					config.setIsolateInternalQueries(!autoCommit);
				})) {
			database.createLockTable(observer);
			JdbcTemplate jdbc = new JdbcTemplate(observer);
			jdbc.setQueryTimeout(2);
			jdbc.execute("CREATE TABLE item (id integer NOT NULL PRIMARY KEY)");
			LocalContainerEntityManagerFactoryBean factory = new LocalContainerEntityManagerFactoryBean();
			factory.setDataSource(dataSource);
			factory.setManagedTypes(PersistenceManagedTypes.of(Item.class.getName()));
			factory.setPersistenceUnitName("test");
			if (vendor != null) {
				factory.setJpaVendorAdapter(vendor);
			}
			else {
				factory.setPersistenceProvider(new HibernatePersistenceProvider());
			}
			factory.setJpaPropertyMap(Map.of("hibernate.connection.provider_disables_autocommit", true));
			factory.afterPropertiesSet();
			try {
				EntityManagerFactory entities = factory.getObject();
				assertThat(entities).isNotNull();
				test.run(dataSource, jdbc, entities);
			}
			finally {
				factory.destroy();
			}
		}
	}

	private static void persist(HikariDataSource dataSource, JpaTransactionManager manager,
			EntityManagerFactory entities) {
		JdbcLockBackend backend = new JdbcLockBackend(() -> dataSource);
		try (GuardedNode node = new GuardedNode(backend, RowClaims.of(backend, true), manager)) {
			node.locks().run("key", () -> new TransactionTemplate(manager).executeWithoutResult((status) -> {
				EntityManager entityManager = EntityManagerFactoryUtils.getTransactionalEntityManager(entities);
				assertThat(entityManager).isNotNull();
				entityManager.persist(new Item(1));
			}));
		}
	}

	@FunctionalInterface
	private interface Test {

		void run(HikariDataSource dataSource, JdbcTemplate jdbc, EntityManagerFactory entities);

	}

	/** Another node takes the lock between the check and the commit, if it can. */
	private static final class SupersededManager extends JpaTransactionManager {

		private static final long serialVersionUID = 1L;

		private final transient JdbcTemplate other;

		private boolean superseded;

		private SupersededManager(EntityManagerFactory entities, JdbcTemplate other) {
			super(entities);
			this.other = other;
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
			try {
				this.superseded = this.other.update("UPDATE holdfast_lock SET epoch = epoch + 1, owner = 1") == 1;
			}
			catch (DataAccessException ex) {
				this.superseded = false;
			}
			super.doCommit(status);
		}

	}

	@Entity(name = "item")
	static class Item {

		@Id
		private int id;

		Item() {
		}

		Item(int id) {
			this.id = id;
		}

	}

}
