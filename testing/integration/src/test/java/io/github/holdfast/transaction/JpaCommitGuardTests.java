package io.github.holdfast.transaction;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import jakarta.persistence.PersistenceException;
import org.hibernate.jpa.HibernatePersistenceProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.orm.jpa.EntityManagerFactoryUtils;
import org.springframework.orm.jpa.JpaSystemException;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockListener;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.TemplateAccess;
import io.github.holdfast.store.jdbc.JdbcLockBackend;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * JPA sends its statements late; the guard comes after them all the same.
 */
class JpaCommitGuardTests {

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void changesAreFlushedBeforeTheCheck(TestDatabase database) {
		run(database, CommitGuardLevel.LEASE, (dataSource, entities, transaction) -> {
			JdbcTemplate sameConnection = new JdbcTemplate(dataSource);
			List<Integer> seenByTheCheck = new ArrayList<>();
			FaultyBackend backend = new FaultyBackend(
					() -> seenByTheCheck.addAll(sameConnection.queryForList("SELECT id FROM item", Integer.class)));
			LockTemplate locks = new LockTemplate(() -> backend, List::of);
			try {
				locks.run("key", () -> transaction
					.executeWithoutResult((status) -> transactional(entities).persist(new Item(1))));
			}
			finally {
				TemplateAccess.close(locks);
			}
			assertThat(seenByTheCheck).containsExactly(1);
		});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void supersededHolderCannotCommitAtFence(TestDatabase database) {
		run(database, CommitGuardLevel.FENCE, (dataSource, entities, transaction) -> {
			LockTemplate locks = new LockTemplate(() -> new JdbcLockBackend(() -> dataSource), List::of);
			try {
				locks.run("key", () -> transaction
					.executeWithoutResult((status) -> transactional(entities).persist(new Item(1))));
				assertThatExceptionOfType(LockLostException.class)
					.isThrownBy(() -> locks.run("key", () -> transaction.executeWithoutResult((status) -> {
						transactional(entities).persist(new Item(2));
						new JdbcTemplate(dataSource).update("UPDATE holdfast_lock SET epoch = epoch + 1");
					})));
			}
			finally {
				TemplateAccess.close(locks);
			}
			assertThat(new JdbcTemplate(dataSource).queryForList("SELECT id FROM item", Integer.class))
				.containsExactly(1);
		});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void readOnlyTransactionSendsNoChanges(TestDatabase database) {
		run(database, CommitGuardLevel.FENCE, (dataSource, entities, transaction) -> {
			transaction.setReadOnly(true);
			LockTemplate locks = new LockTemplate(() -> new JdbcLockBackend(() -> dataSource), List::of);
			try {
				locks.run("key", () -> transaction
					.executeWithoutResult((status) -> transactional(entities).persist(new Item(1))));
			}
			finally {
				TemplateAccess.close(locks);
			}
			assertThat(new JdbcTemplate(dataSource).queryForList("SELECT id FROM item", Integer.class)).isEmpty();
		});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void transactionThatIsMarkedRollbackOnlyFailsAsWithoutALock(TestDatabase database) {
		run(database, CommitGuardLevel.FENCE, (dataSource, entities, transaction) -> {
			Runnable body = () -> transaction.executeWithoutResult((status) -> {
				transactional(entities).persist(new Item(1));
				catchThrowable(() -> transaction.executeWithoutResult((inner) -> {
					throw new IllegalStateException("swallowed");
				}));
			});
			Throwable unlocked = catchThrowable(body::run);
			List<LockListener.Outcome> outcomes = new ArrayList<>();
			LockTemplate locks = new LockTemplate(() -> new JdbcLockBackend(() -> dataSource),
					() -> List.of(noting(outcomes)));
			try {
				assertThatExceptionOfType(unlocked.getClass()).isThrownBy(() -> locks.run("key", body::run))
					.withMessage(unlocked.getMessage());
			}
			finally {
				TemplateAccess.close(locks);
			}
			assertThat(outcomes).containsExactly(LockListener.Outcome.RELEASED);
			assertThat(new JdbcTemplate(dataSource).queryForList("SELECT id FROM item", Integer.class)).isEmpty();
		});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void connectionThatIsNotThatOfTheTransactionIsRefused(TestDatabase database) {
		HibernatePersistenceProvider withoutDialect = new HibernatePersistenceProvider();
		run(database, CommitGuardLevel.FENCE, (factory) -> factory.setPersistenceProvider(withoutDialect),
				(dataSource, entities, transaction) -> {
					LockTemplate locks = new LockTemplate(() -> new JdbcLockBackend(() -> dataSource), List::of);
					try {
						assertThatIllegalStateException()
							.isThrownBy(() -> locks.run("key",
									() -> transaction.executeWithoutResult(
											(status) -> transactional(entities).persist(new Item(1)))))
							.withMessageContaining("is not that of the transaction");
					}
					finally {
						TemplateAccess.close(locks);
					}
					assertThat(new JdbcTemplate(dataSource).queryForList("SELECT id FROM item", Integer.class))
						.isEmpty();
				});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	@Tag("F29")
	void lockIsKeptWhenTheAnswerToTheCommitIsLost(TestDatabase database) {
		run(database, CommitGuardLevel.LEASE, (dataSource, entities, transaction) -> {
			List<LockListener.Outcome> outcomes = new ArrayList<>();
			FaultyBackend backend = new FaultyBackend(() -> {
			});
			JpaTransactionManager manager = new JpaTransactionManager(entities) {

				private static final long serialVersionUID = 1L;

				@Override
				protected void doCommit(DefaultTransactionStatus status) {
					super.doCommit(status);
					throw new JpaSystemException(new PersistenceException("connection reset"));
				}

			};
			new CommitGuardPostProcessor(() -> CommitGuardLevel.LEASE, () -> null)
				.postProcessAfterInitialization(manager, "transactionManager");
			LockTemplate locks = new LockTemplate(() -> backend, () -> List.of(noting(outcomes)));
			try {
				assertThatExceptionOfType(JpaSystemException.class)
					.isThrownBy(() -> locks.run("key", () -> new TransactionTemplate(manager)
						.executeWithoutResult((status) -> transactional(entities).persist(new Item(1)))));
			}
			finally {
				TemplateAccess.close(locks);
			}
			assertThat(outcomes).containsExactly(LockListener.Outcome.KEPT);
		});
	}

	/**
	 * Spring sends neither commit nor rollback after that exception, and Hibernate keeps
	 * the connection.
	 */
	@ParameterizedTest
	@CsvSource({ "H2,false", "H2,true", "MARIADB,false", "MARIADB,true", "POSTGRESQL,false", "POSTGRESQL,true" })
	@Tag("F51")
	void transactionWhoseCommitFailsEarlyIsRolledBack(TestDatabase database, boolean checked) {
		DatabaseAccess access = database.newDatabase();
		SingleConnectionDataSource pool = new SingleConnectionDataSource(access.url(), access.user(), access.password(),
				true);
		try (HikariDataSource observer = access.dataSource(2)) {
			DatabaseAccess.runScript(observer, "io/github/holdfast/jdbc/schema-" + database.platform() + ".sql");
			new JdbcTemplate(observer).execute("CREATE TABLE item (id integer NOT NULL PRIMARY KEY)");
			runOn(pool, CommitGuardLevel.LEASE,
					(factory) -> factory.setJpaVendorAdapter(new HibernateJpaVendorAdapter()),
					(dataSource, entities, transaction) -> {
						LockTemplate locks = new LockTemplate(() -> new JdbcLockBackend(() -> observer), List::of);
						try {
							assertThat(catchThrowable(() -> locks.run("key",
									() -> transaction
										.executeWithoutResult((status) -> failEarly(entities, pool, checked)))))
								.isInstanceOf(checked ? IOException.class : TransactionSystemException.class);
						}
						finally {
							TemplateAccess.close(locks);
						}
						commit(pool);
					});
			assertThat(new JdbcTemplate(observer).queryForList("SELECT id FROM item", Integer.class)).isEmpty();
		}
		finally {
			pool.destroy();
		}
	}

	private static void commit(DataSource pool) {
		new JdbcTemplate(pool).execute((ConnectionCallback<Void>) (connection) -> {
			if (!connection.getAutoCommit()) {
				connection.commit();
			}
			return null;
		});
	}

	private static void failEarly(EntityManagerFactory entities, DataSource pool, boolean checked) {
		EntityManager manager = transactional(entities);
		manager.persist(new Item(1));
		manager.flush();
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void beforeCommit(boolean readOnly) {
				if (checked) {
					JpaCommitGuardTests.<RuntimeException>fail(new IOException("early"));
				}
				throw new TransactionSystemException("early");
			}

			@Override
			public void afterCompletion(int status) {
				new JdbcTemplate(pool).update("INSERT INTO item VALUES (2)");
			}

		});
	}

	@SuppressWarnings("unchecked")
	private static <T extends Exception> void fail(Exception checked) throws T {
		throw (T) checked;
	}

	private static EntityManager transactional(EntityManagerFactory entities) {
		EntityManager manager = EntityManagerFactoryUtils.getTransactionalEntityManager(entities);
		assertThat(manager).isNotNull();
		return manager;
	}

	private static LockListener noting(List<LockListener.Outcome> outcomes) {
		return new LockListener() {

			@Override
			public void released(Call call, Outcome outcome, Duration holdTime) {
				outcomes.add(outcome);
			}

		};
	}

	private static void run(TestDatabase database, CommitGuardLevel level, Scenario scenario) {
		run(database, level, (factory) -> factory.setJpaVendorAdapter(new HibernateJpaVendorAdapter()), scenario);
	}

	private static void run(TestDatabase database, CommitGuardLevel level,
			Consumer<LocalContainerEntityManagerFactoryBean> provider, Scenario scenario) {
		try (HikariDataSource dataSource = database.newDatabase().dataSource(4)) {
			DatabaseAccess.runScript(dataSource, "io/github/holdfast/jdbc/schema-" + database.platform() + ".sql");
			new JdbcTemplate(dataSource).execute("CREATE TABLE item (id integer NOT NULL PRIMARY KEY)");
			runOn(dataSource, level, provider, scenario);
		}
	}

	private static void runOn(DataSource dataSource, CommitGuardLevel level,
			Consumer<LocalContainerEntityManagerFactoryBean> provider, Scenario scenario) {
		LocalContainerEntityManagerFactoryBean factory = new LocalContainerEntityManagerFactoryBean();
		factory.setDataSource(dataSource);
		factory.setManagedTypes(PersistenceManagedTypes.of(Item.class.getName()));
		factory.setPersistenceUnitName("test");
		provider.accept(factory);
		factory.afterPropertiesSet();
		EntityManagerFactory entities = factory.getObject();
		assertThat(entities).isNotNull();
		try {
			JpaTransactionManager manager = new JpaTransactionManager(entities);
			manager.setDataSource(dataSource);
			new CommitGuardPostProcessor(() -> level, () -> JdbcLockBackend.fence(() -> dataSource))
				.postProcessAfterInitialization(manager, "transactionManager");
			scenario.run(dataSource, entities, new TransactionTemplate(manager));
		}
		finally {
			factory.destroy();
		}
	}

	@FunctionalInterface
	private interface Scenario {

		void run(DataSource dataSource, EntityManagerFactory entities, TransactionTemplate transaction);

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
