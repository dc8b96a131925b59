package io.github.holdfast.transaction;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedisStore;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * What a listener does in each transaction when it has begun, as the tenant of row level
 * security and the entry of an audit, is a part of it.
 */
@Timeout(180)
class TransactionBeginTests {

	private static final String ENTRY = "INSERT INTO entry VALUES (1)";

	private final RedisServer redis = RedisServer.shared();

	@BeforeEach
	void forgetLocks() {
		this.redis.command("FLUSHALL");
	}

	@ParameterizedTest
	@CsvSource({ "POSTGRESQL, READ_COMMITTED, true", "POSTGRESQL, READ_COMMITTED, false",
			"POSTGRESQL, REPEATABLE_READ, false", "MARIADB, REPEATABLE_READ, true", "MARIADB, REPEATABLE_READ, false",
			"H2, READ_COMMITTED, false" })
	void rowOfTheBeginIsCommittedAndRolledBackWithTheTransaction(TestDatabase database, String isolation,
			boolean autoCommit) {
		application(database, isolation, autoCommit).run((context) -> {
			Work work = context.getBean(Work.class);
			work.createTable();
			Begin begin = context.getBean(Begin.class);
			begin.statement = ENTRY;
			for (int i = 1; i <= 3; i++) {
				assertThat(work.underLock(work::entries)).isEqualTo(i);
				assertThatIllegalArgumentException().isThrownBy(() -> work.underLock(() -> {
					throw new IllegalArgumentException("The work fails");
				}));
			}
			begin.statement = null;
			assertThat(work.entries()).isEqualTo(3);
		});
	}

	/** What the body reads afterwards may be as old, and the transaction lock newer. */
	@ParameterizedTest
	@CsvSource({ "H2,READ_COMMITTED", "H2,REPEATABLE_READ", "H2,SERIALIZABLE", "MARIADB,REPEATABLE_READ",
			"POSTGRESQL,REPEATABLE_READ" })
	void transactionThatHasReadAtItsBeginIsUnderALease(TestDatabase database, String isolation) {
		application(database, isolation, true)
			.withPropertyValues("holdfast.backend=jdbc", "holdfast.jdbc.initialize-schema=always")
			.run((context) -> {
				Work work = context.getBean(Work.class);
				work.createTable();
				work.underLock(work::entries);
				context.getBean(Begin.class).statement = "SELECT count(*) FROM entry";
				assertThat(work.underLock(work::leases)).isOne();
			});
	}

	/**
	 * As an audit of its own does now and then. That it is refused would leave the
	 * transaction of the body on the thread, for all that this does later.
	 */
	@ParameterizedTest
	@CsvSource({ "H2,redis", "MARIADB,redis", "POSTGRESQL,redis", "H2,jdbc", "MARIADB,jdbc", "POSTGRESQL,jdbc" })
	void listenerMayCommitATransactionOfItsOwn(TestDatabase database, String backend) {
		application(database, "READ_COMMITTED", true)
			.withPropertyValues("holdfast.backend=" + backend, "holdfast.jdbc.initialize-schema=always")
			.run((context) -> {
				Work work = context.getBean(Work.class);
				work.createTable();
				for (int i = 0; i < 3; i++) {
					work.underLock(work::entries);
				}
				TransactionTemplate own = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
				own.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
				context.getBean(Begin.class).once(() -> own.executeWithoutResult((status) -> work.add()));
				work.underLock(work::add);
				assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
				work.underLock(work::add);
				CompletableFuture.runAsync(() -> assertThat(work.entries()).isEqualTo(3)).join();
			});
	}

	private ApplicationContextRunner application(TestDatabase database, String isolation, boolean autoCommit) {
		return RedisStore.REDIS.application(database.newDatabase(), this.redis.port())
			.withPropertyValues("holdfast.commit-guard=fence", "holdfast.jdbc.initialize-schema=always",
					"spring.datasource.hikari.auto-commit=" + autoCommit,
					"spring.datasource.hikari.transaction-isolation=TRANSACTION_" + isolation)
			.withBean(Begin.class)
			.withBean(Work.class);
	}

	/** Runs a statement in each transaction. Spring Boot tells it of all of them. */
	static class Begin implements TransactionExecutionListener {

		private final ObjectProvider<JdbcTemplate> jdbc;

		private final AtomicReference<@Nullable Runnable> next = new AtomicReference<>();

		private volatile @Nullable String statement;

		Begin(ObjectProvider<JdbcTemplate> jdbc) {
			this.jdbc = jdbc;
		}

		void once(Runnable action) {
			this.next.set(action);
		}

		@Override
		public void afterBegin(TransactionExecution transaction, @Nullable Throwable beginFailure) {
			String sql = this.statement;
			if (sql != null && beginFailure == null) {
				this.jdbc.getObject().execute(sql);
			}
			Runnable action = this.next.getAndSet(null);
			if (action != null) {
				action.run();
			}
		}

	}

	static class Work {

		private final JdbcTemplate jdbc;

		Work(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@Transactional
		public void createTable() {
			this.jdbc.execute("CREATE TABLE entry (number integer)");
		}

		@DistributedLock(key = "'A'")
		@Transactional
		public <T> T underLock(Supplier<T> body) {
			return body.get();
		}

		public int add() {
			return this.jdbc.update("INSERT INTO entry VALUES (1)");
		}

		public @Nullable Integer leases() {
			return this.jdbc.queryForObject("SELECT count(*) FROM holdfast_lock WHERE owner IS NOT NULL",
					Integer.class);
		}

		public @Nullable Integer entries() {
			return this.jdbc.queryForObject("SELECT count(*) FROM entry", Integer.class);
		}

	}

}
