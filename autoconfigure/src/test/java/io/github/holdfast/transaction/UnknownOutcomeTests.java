package io.github.holdfast.transaction;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

import io.github.holdfast.LockException;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * The answer to a COMMIT is lost on its way, although the database has committed.
 */
class UnknownOutcomeTests {

	private static final Duration LEASE_TIME = Duration.ofSeconds(3);

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void lockRunsOutAfterALostCommitReplyAndNoUpdateIsLost(TestDatabase database) throws Exception {
		run(database, "fence");
	}

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void lockIsNotReleasedAtLevelLeaseEither(TestDatabase database) throws Exception {
		run(database, "lease");
	}

	private static void run(TestDatabase database, String level) throws Exception {
		DatabaseAccess direct = database.newDatabase();
		try (FaultProxy proxy = new FaultProxy(direct.port()); HikariDataSource observer = direct.dataSource(2)) {
			LockedApplication.jdbc(withSocketTimeout(database, direct.onPort(proxy.port())))
				.withBean(StockService.class)
				.withPropertyValues("holdfast.commit-guard=" + level, "holdfast.lease-time=" + LEASE_TIME,
						"holdfast.wait-time=60s")
				.run((context) -> {
					StockService stock = context.getBean(StockService.class);
					LoseReply loseReply = new LoseReply(proxy);
					ConfigurableTransactionManager manager = context.getBean(ConfigurableTransactionManager.class);
					List<TransactionExecutionListener> listeners = new ArrayList<>(
							manager.getTransactionExecutionListeners());
					listeners.add(loseReply);
					manager.setTransactionExecutionListeners(listeners);
					Throwable failure = catchThrowable(() -> stock.take("A", () -> loseReply.armed = true));
					proxy.inject(FaultProxy.Fault.NONE);
					proxy.reset();
					assertThat(failure).as("the manager's own exception")
						.isNotNull()
						.isNotInstanceOf(LockException.class);
					JdbcTemplate jdbc = new JdbcTemplate(observer);
					assertThat(jdbc.queryForObject("SELECT quantity FROM stock WHERE sku = 'A'", Integer.class))
						.as("committed although nobody was told")
						.isEqualTo(99);
					assertThat(jdbc.queryForObject("SELECT owner FROM holdfast_lock", String.class))
						.as("the lock is kept to run out")
						.isNotNull();
					stock.take("A", () -> {
					});
					assertThat(stock.quantity("A")).isEqualTo(98);
				});
		}
	}

	private static DatabaseAccess withSocketTimeout(TestDatabase database, DatabaseAccess access) {
		String timeout = (database == TestDatabase.MARIADB) ? "socketTimeout=1500" : "socketTimeout=2";
		return new DatabaseAccess(access.url() + (access.url().contains("?") ? "&" : "?") + timeout, access.user(),
				access.password());
	}

	/**
	 * Comes after the guard, so that only the answer to COMMIT is lost.
	 */
	private static final class LoseReply implements TransactionExecutionListener {

		private final FaultProxy proxy;

		private volatile boolean armed;

		private LoseReply(FaultProxy proxy) {
			this.proxy = proxy;
		}

		@Override
		public void beforeCommit(TransactionExecution transaction) {
			if (this.armed) {
				this.armed = false;
				this.proxy.inject(FaultProxy.Fault.DROP_REPLIES);
			}
		}

	}

}
