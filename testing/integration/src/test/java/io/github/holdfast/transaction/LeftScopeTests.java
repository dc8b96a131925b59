package io.github.holdfast.transaction;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * A scope for which the transaction around it was suspended is not closed where it was
 * opened. That transaction does not go on: it is rolled back, and says so.
 */
@Timeout(180)
class LeftScopeTests {

	@ParameterizedTest
	@CsvSource({ "OPEN,true", "OPEN,false", "ANOTHER_THREAD,true", "ANOTHER_THREAD,false", "INNER_TRANSACTION,true",
			"INNER_TRANSACTION,false" })
	void transactionAroundItIsRolledBack(End end, boolean autoCommit) {
		LockedApplication.jdbc(TestDatabase.H2.newDatabase())
			.withPropertyValues("spring.datasource.hikari.auto-commit=" + autoCommit)
			.run((context) -> {
				JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
				TransactionTemplate transaction = new TransactionTemplate(
						context.getBean(PlatformTransactionManager.class));
				transaction.executeWithoutResult((status) -> jdbc.execute("CREATE TABLE t (id integer)"));
				LockTemplate locks = context.getBean(LockTemplate.class).withPropagation(Propagation.REQUIRES_NEW);
				List<Integer> outcomes = new ArrayList<>();
				List<LockTemplate.Scope> scopes = new ArrayList<>();
				assertThatIllegalStateException().isThrownBy(() -> transaction.executeWithoutResult((status) -> {
					jdbc.update("INSERT INTO t VALUES (1)");
					TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

						@Override
						public void afterCompletion(int status) {
							outcomes.add(status);
						}

					});
					scopes.add(locks.acquire("A"));
					end.run(scopes.get(0), transaction);
				})).withMessageContaining("suspended for the Scope");
				scopes.get(0).close();
				assertThat(outcomes).containsExactly(TransactionSynchronization.STATUS_ROLLED_BACK);
				assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
				assertThat(context.getBean(HikariDataSource.class).getHikariPoolMXBean().getActiveConnections())
					.isZero();
				assertThat(jdbc.queryForObject("SELECT count(*) FROM t", Integer.class)).isZero();
				locks.run("A", () -> {
				});
			});
	}

	private enum End {

		OPEN {

			@Override
			void run(LockTemplate.Scope scope, TransactionTemplate transaction) {
			}

		},

		ANOTHER_THREAD {

			@Override
			void run(LockTemplate.Scope scope, TransactionTemplate transaction) {
				CompletableFuture.runAsync(scope::close).join();
			}

		},

		INNER_TRANSACTION {

			@Override
			void run(LockTemplate.Scope scope, TransactionTemplate transaction) {
				assertThat(catchThrowable(() -> transaction.executeWithoutResult((status) -> scope.close())))
					.hasMessageContaining("given back");
			}

		};

		abstract void run(LockTemplate.Scope scope, TransactionTemplate transaction);

	}

}
