package io.github.holdfast.transaction.attack;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.LockManager;
import io.github.holdfast.testsupport.ResourcelessTransactionManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

/** Transactions that support others, have listeners, no resources, or are rolled back. */
@Timeout(180)
class SpringTransactionTests {

	private static final String ISOLATION = "spring.datasource.hikari.transaction-isolation=TRANSACTION_";

	private static final String AUTO_COMMIT = "spring.datasource.hikari.auto-commit=";

	@ParameterizedTest
	@CsvSource({ "H2, true", "MARIADB, true", "MARIADB, false", "POSTGRESQL, false" })
	void asManyCallsAsConnectionsDoNotWaitForEachOther(Database database, boolean autoCommit) {
		try (Nodes nodes = new Nodes(database, Nodes.ALONE, new ForgetfulStore(),
				"spring.datasource.hikari.maximum-pool-size=4", "spring.datasource.hikari.connection-timeout=15000",
				AUTO_COMMIT + autoCommit)) {
			TransactionTemplate supporting = nodes.first.transaction();
			supporting.setPropagationBehavior(TransactionDefinition.PROPAGATION_SUPPORTS);
			supporting.setReadOnly(true);
			CountDownLatch allHaveRead = new CountDownLatch(4);
			Nodes.together(4, (call) -> supporting.executeWithoutResult((status) -> {
				nodes.first.count();
				allHaveRead.countDown();
				Nodes.await(allHaveRead);
				nodes.first.shop().locked(nodes.first::sell);
			}));
			assertThat(nodes.sales()).containsExactly(1, 2, 3, 4);
		}
	}

	@ParameterizedTest
	@CsvSource({ "POSTGRESQL, READ_COMMITTED, true", "POSTGRESQL, READ_COMMITTED, false",
			"POSTGRESQL, REPEATABLE_READ, false", "MARIADB, REPEATABLE_READ, true", "MARIADB, REPEATABLE_READ, false",
			"H2, READ_COMMITTED, false" })
	void rowOfTheBeginIsCommittedAndRolledBackWithTheTransaction(Database database, String isolation,
			boolean autoCommit) {
		try (Nodes nodes = new Nodes(database, Nodes.ALONE, new ForgetfulStore(), Begin.class, ISOLATION + isolation,
				AUTO_COMMIT + autoCommit)) {
			nodes.first.context().getBean(Begin.class).statement = "INSERT INTO sale VALUES (1)";
			for (int i = 1; i <= 3; i++) {
				int sold = i;
				nodes.first.shop().locked(() -> assertThat(nodes.first.count()).isEqualTo(sold));
				assertThatIllegalArgumentException().isThrownBy(() -> nodes.first.shop().locked(() -> {
					throw new IllegalArgumentException("The work fails");
				}));
			}
			assertThat(nodes.sales()).hasSize(3);
		}
	}

	/** Spring calls no listener then. */
	@ParameterizedTest
	@EnumSource(names = { "H2", "POSTGRESQL" })
	void lockThatWasClosedInItsTransactionIsFreeAfterACallbackHasFailed(Database database) {
		try (Nodes nodes = new Nodes(database, Nodes.ALONE)) {
			LockTemplate.Scope scope = nodes.first.locks().acquire("stock");
			assertThatExceptionOfType(TransactionSystemException.class)
				.isThrownBy(() -> nodes.first.transaction().executeWithoutResult((status) -> {
					nodes.first.sell();
					TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
						@Override
						public void beforeCommit(boolean readOnly) {
							throw new TransactionSystemException("The callback fails");
						}
					});
					scope.close();
				}));
			assertThat(nodes.first.context().getBean(LockManager.class).isIdle()).isTrue();
			assertThat(nodes.sales()).isEmpty();
		}
	}

	/** What the body reads afterwards may be as old, and the transaction lock newer. */
	@ParameterizedTest
	@CsvSource({ "H2, REPEATABLE_READ", "H2, SERIALIZABLE", "POSTGRESQL, REPEATABLE_READ" })
	void transactionWithASnapshotThatHasReadAtItsBeginIsUnderALease(Database database, String isolation) {
		try (Nodes nodes = new Nodes(database, Nodes.ALONE, Begin.class, ISOLATION + isolation)) {
			nodes.first.shop().locked(nodes.first::count);
			nodes.first.context().getBean(Begin.class).statement = "SELECT count(*) FROM sale";
			nodes.first.shop().locked(() -> assertThat(nodes.leases()).isOne());
		}
	}

	/** If it were refused, the transaction of the body would stay on the thread. */
	@ParameterizedTest
	@CsvSource({ "H2, true", "MARIADB, true", "POSTGRESQL, true", "H2, false", "MARIADB, false", "POSTGRESQL, false" })
	void listenerMayCommitATransactionOfItsOwn(Database database, boolean beside) {
		try (Nodes nodes = new Nodes(database, Nodes.ALONE, Begin.class, ISOLATION + "READ_COMMITTED",
				beside ? new ForgetfulStore() : "holdfast.backend=jdbc")) {
			for (int i = 0; i < 3; i++) {
				nodes.first.shop().locked(nodes.first::count);
			}
			TransactionTemplate own = nodes.first.newTransaction();
			nodes.first.context().getBean(Begin.class).next
				.set(() -> own.executeWithoutResult((status) -> nodes.first.sell()));
			nodes.first.shop().locked(nodes.first::sell);
			assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
			nodes.first.shop().locked(nodes.first::sell);
			assertThat(nodes.sales()).containsExactly(1, 2, 3);
		}
	}

	/** With a transaction lock, that COMMIT is the release. */
	@ParameterizedTest
	@EnumSource(names = { "H2", "POSTGRESQL" })
	void listenerMayNotSpendTheLockBeforeTheTransactionOfTheMethodBegins(Database database) {
		try (Nodes nodes = new Nodes(database, Nodes.ALONE, Begin.class, "holdfast.backend=jdbc")) {
			nodes.first.shop().locked(nodes.first::sell);
			nodes.first.context().getBean(Begin.class).before
				.set(() -> nodes.first.newTransaction().executeWithoutResult((status) -> nodes.first.sell()));
			assertThatIllegalStateException().isThrownBy(() -> nodes.first.shop().locked(nodes.first::sell))
				.withMessageContaining("has begun without it");
			nodes.first.shop().locked(nodes.first::sell);
			assertThat(nodes.sales()).containsExactly(1, 2, 3);
		}
	}

	/** Its transaction had locked the row before the lock was lost. */
	@ParameterizedTest
	@EnumSource(names = { "H2", "POSTGRESQL" })
	void lossDuringAGuardedTransactionWithASnapshotIsNoFailure(Database database) {
		ForgetfulStore store = new ForgetfulStore();
		try (Nodes nodes = new Nodes(database, Nodes.ALONE, store)) {
			nodes.first.shop().repeatableRead(() -> {
				nodes.first.sell();
				store.forget();
			});
			assertThat(nodes.sales()).containsExactly(1);
		}
	}

	/** Runs a statement in each transaction. Spring Boot tells it of all of them. */
	static class Begin implements TransactionExecutionListener {

		private final ObjectProvider<JdbcTemplate> jdbc;

		private final AtomicReference<@Nullable Runnable> before = new AtomicReference<>();

		private final AtomicReference<@Nullable Runnable> next = new AtomicReference<>();

		private volatile @Nullable String statement;

		Begin(ObjectProvider<JdbcTemplate> jdbc) {
			this.jdbc = jdbc;
		}

		@Override
		public void beforeBegin(TransactionExecution transaction) {
			run(this.before);
		}

		@Override
		public void afterBegin(TransactionExecution transaction, @Nullable Throwable beginFailure) {
			String sql = this.statement;
			if (sql != null && beginFailure == null) {
				this.jdbc.getObject().execute(sql);
			}
			run(this.next);
		}

		private static void run(AtomicReference<@Nullable Runnable> once) {
			Runnable action = once.getAndSet(null);
			if (action != null) {
				action.run();
			}
		}

	}

	/** Error 1020, where a row has changed since the snapshot. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void noUpdateIsLostAfterARecordHasChanged(boolean snapshotIsolation) {
		ForgetfulStore store = new ForgetfulStore();
		try (Nodes nodes = new Nodes(Database.MARIADB, store, "holdfast.wait-time=2s",
				"spring.datasource.hikari.connection-init-sql=SET innodb_snapshot_isolation = " + snapshotIsolation)) {
			for (int i = 0; i < 3; i++) {
				nodes.first.shop().locked(nodes.first::count);
			}
			Throwable[] failures = new Throwable[2];
			Throwable refusal = catchThrowable(() -> nodes.first.shop().locked(() -> {
				int before = nodes.first.count();
				nodes.execute("UPDATE item SET sold = 1 WHERE id = 1");
				failures[0] = catchThrowable(() -> nodes.first.jdbc().update("UPDATE item SET sold = 2 WHERE id = 1"));
				store.forget();
				failures[1] = catchThrowable(
						() -> Nodes.async(() -> nodes.second.shop().locked(nodes.second::sell)).join());
				nodes.first.insertAfter(before);
			}));
			assertThat(failures[0] != null).as("it was rolled back").isEqualTo(snapshotIsolation);
			assertThat(failures[1] == null).as("the other one has sold").isEqualTo(snapshotIsolation);
			assertThat(nodes.sales()).containsExactly(1);
			if (snapshotIsolation) {
				assertThat(refusal).isInstanceOf(PessimisticLockingFailureException.class);
			}
			else {
				assertThat(refusal).isNull();
			}
		}
	}

	/** The database has answered, so the end is known, and the lease is given back. */
	@Test
	void lockIsFreeAfterATriggerHasRefusedTheCommit() {
		try (Nodes nodes = new Nodes(Database.POSTGRESQL, "holdfast.lease-time=10m")) {
			nodes.execute("CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
					+ "$$ BEGIN RAISE EXCEPTION 'refused'; END $$");
			nodes.execute("CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON sale "
					+ "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()");
			assertThatExceptionOfType(RuntimeException.class)
				.isThrownBy(() -> nodes.first.shop()
					.facade(() -> nodes.first.transaction().executeWithoutResult((status) -> nodes.first.sell())))
				.withStackTraceContaining("refused");
			assertThat(nodes.sales()).isEmpty();
			nodes.second.locks().withWaitTime(Duration.ZERO).acquire("stock").close();
		}
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CONNECTOR_J")
	void callInATransactionWithoutResourcesCommitsItsOwn(Database database) {
		try (Nodes nodes = new Nodes(database, Nodes.ALONE, new ForgetfulStore())) {
			assertCallWorks(nodes, new ResourcelessTransactionManager());
		}
	}

	@ParameterizedTest
	@CsvSource({ "H2, none=", "MARIADB, none=", "POSTGRESQL, none=", "H2, holdfast.transaction-managers.steps=lease" })
	void managerWithoutResourcesMayBeABean(Database database, String listed) {
		try (Nodes nodes = new Nodes(database, Nodes.ALONE, new ForgetfulStore(),
				ResourcelessTransactionManager.BesideJdbc.class, listed)) {
			assertCallWorks(nodes, nodes.first.context().getBean(ResourcelessTransactionManager.class));
		}
	}

	private static void assertCallWorks(Nodes nodes, PlatformTransactionManager manager) {
		new TransactionTemplate(manager).executeWithoutResult((status) -> {
			nodes.first.shop().locked(nodes.first::sell);
			assertThat(nodes.sales()).containsExactly(1);
		});
		assertThat(nodes.sales()).containsExactly(1);
	}

}
