package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

import io.github.holdfast.LockException;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestBackend;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

/**
 * A COMMIT or the answer to it is lost on its way.
 */
@Tag("F29")
class UnknownOutcomeTests {

	private static final Duration LEASE_TIME = Duration.ofSeconds(4);

	/** Then the guard leaves the commit to the manager. */
	private static final int AFTER_THE_GUARD = 1;

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void lockRunsOutAfterALostCommitReplyAndNoUpdateIsLost(TestDatabase database) throws Exception {
		run(database, "fence");
	}

	@ParameterizedTest
	@EnumSource(names = "MARIADB")
	void lockIsNotReleasedAtLevelLeaseEither(TestDatabase database) throws Exception {
		run(database, "lease");
	}

	@ParameterizedTest
	@EnumSource(names = "POSTGRESQL")
	@Tag("long")
	void lockIsNotReleasedAtLevelLeaseOnPostgreSqlEither(TestDatabase database) throws Exception {
		run(database, "lease");
	}

	/**
	 * The connection breaks before the server has got the COMMIT.
	 */
	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void lockRunsOutAfterALostCommitRequest(TestDatabase database) throws Exception {
		run(database, "fence", FaultProxy.Fault.HOLD_REQUESTS);
	}

	/**
	 * The driver goes on in another session, in which there is nothing to roll back, so
	 * that the rollback succeeds.
	 */
	@Test
	void lockRunsOutAfterALostCommitRequestOfADriverWithFailover() throws Exception {
		run(TestDatabase.MARIADB, "lease", FaultProxy.Fault.HOLD_REQUESTS,
				(direct, port) -> new DatabaseAccess(
						direct.url()
							.replace("mariadb://localhost:", "mariadb:sequential://localhost:" + port + ",localhost:"),
						direct.user(), direct.password()));
	}

	/**
	 * Where no network can fail: the driver says so although the commit was done.
	 */
	@ParameterizedTest
	@EnumSource(names = { "LOCAL", "H2" })
	void lockRunsOutAfterACommitThatTheDriverReportsAsBroken(TestBackend backend) {
		runBroken(backend, new BrokenCommits((dataSource) -> dataSource));
	}

	/**
	 * That proxy ignores the rollback of a connection that has been closed, so the
	 * manager says that the transaction was rolled back.
	 */
	@ParameterizedTest
	@EnumSource(names = { "LOCAL", "H2" })
	void lockRunsOutAfterACommitThatIsBrokenOnALazyConnection(TestBackend backend) {
		runBroken(backend, new BrokenCommits(LazyConnectionDataSourceProxy::new));
	}

	private static void runBroken(TestBackend backend, BrokenCommits broken) {
		backend.application()
			.withBean(BrokenCommits.class, () -> broken)
			.withBean(StockService.class)
			.withPropertyValues("holdfast.lease-time=" + LEASE_TIME, "holdfast.wait-time=60s")
			.run((context) -> {
				StockService stock = context.getBean(StockService.class);
				assertThat(catchThrowable(() -> stock.take("A", () -> broken.armed = true)))
					.as("the manager's own exception")
					.isNotNull()
					.isNotInstanceOf(LockException.class);
				assertThat(stock.quantity("A")).isEqualTo(99);
				LockTemplate locks = context.getBean(LockTemplate.class).withWaitTime(Duration.ZERO);
				assertThat(CompletableFuture.supplyAsync(() -> catchThrowable(() -> locks.acquire("stock:A"))).join())
					.as("the lock is kept to run out")
					.isInstanceOf(LockNotAcquiredException.class);
				stock.take("A", () -> {
				});
				assertThat(stock.quantity("A")).isEqualTo(98);
			});
	}

	private static void run(TestDatabase database, String level) throws Exception {
		run(database, level, FaultProxy.Fault.DROP_REPLIES);
	}

	private static void run(TestDatabase database, String level, FaultProxy.Fault fault) throws Exception {
		run(database, level, fault, DatabaseAccess::onPort);
	}

	/**
	 * Run a method whose commit gets lost.
	 */
	private static void run(TestDatabase database, String level, FaultProxy.Fault fault,
			BiFunction<DatabaseAccess, Integer, DatabaseAccess> through) throws Exception {
		int committed = (fault == FaultProxy.Fault.DROP_REPLIES) ? 98 : 99;
		DatabaseAccess direct = database.newDatabase();
		try (FaultProxy proxy = new FaultProxy(direct.port()); HikariDataSource observer = direct.dataSource(2)) {
			LockedApplication.jdbc(through.apply(direct, proxy.port()))
				.withBean(StockService.class)
				.withPropertyValues("holdfast.wait-time=60s", "holdfast.jdbc.mode=lease",
						"holdfast.commit-guard=" + level, "holdfast.lease-time=" + LEASE_TIME)
				.run((context) -> {
					StockService stock = context.getBean(StockService.class);
					// What is sent to a session only once is not what is to be lost
					stock.take("A", () -> {
					});
					LoseCommit loseCommit = new LoseCommit(proxy, fault, context.getBean(DataSource.class));
					ConfigurableTransactionManager manager = context.getBean(ConfigurableTransactionManager.class);
					Throwable failure = catchThrowable(() -> stock.take("A", () -> strike(manager, loseCommit)));
					// The server may still be at it
					JdbcTemplate jdbc = new JdbcTemplate(observer);
					await().atMost(PATIENCE).until(() -> quantity(jdbc) == committed);
					proxy.reset();
					proxy.inject(FaultProxy.Fault.NONE);
					assertThat(failure).as("the manager's own exception")
						.isNotNull()
						.isNotInstanceOf(LockException.class);
					assertThat(quantity(jdbc)).as("what nobody was told").isEqualTo(committed);
					assertThat(jdbc.queryForObject("SELECT owner FROM holdfast_lock", String.class))
						.as("the lock is kept to run out")
						.isNotNull();
					stock.take("A", () -> {
					});
					assertThat(stock.quantity("A")).isEqualTo(committed - 1);
				});
		}
	}

	/**
	 * Under the lock, as before it is acquired the guard is moved to the end.
	 */
	private static void strike(ConfigurableTransactionManager manager, LoseCommit loseCommit) {
		List<TransactionExecutionListener> listeners = new ArrayList<>(manager.getTransactionExecutionListeners());
		listeners.add(AFTER_THE_GUARD, loseCommit);
		manager.setTransactionExecutionListeners(listeners);
		loseCommit.armed = true;
	}

	private static int quantity(JdbcTemplate jdbc) {
		Integer quantity = jdbc.queryForObject("SELECT quantity FROM stock WHERE sku = 'A'", Integer.class);
		return (quantity != null) ? quantity : -1;
	}

	/**
	 * Comes just before the commit is sent, so that only it or its answer is lost.
	 * Nothing else is waited for as impatiently as the answer.
	 */
	private static final class LoseCommit implements TransactionExecutionListener {

		private final FaultProxy proxy;

		private final FaultProxy.Fault fault;

		private final DataSource dataSource;

		private volatile boolean armed;

		private LoseCommit(FaultProxy proxy, FaultProxy.Fault fault, DataSource dataSource) {
			this.proxy = proxy;
			this.fault = fault;
			this.dataSource = dataSource;
		}

		@Override
		public void beforeCommit(TransactionExecution transaction) {
			if (this.armed) {
				this.armed = false;
				try {
					DataSourceUtils.getConnection(this.dataSource).setNetworkTimeout(Runnable::run, 1500);
				}
				catch (SQLException ex) {
					throw new IllegalStateException(ex);
				}
				this.proxy.inject(this.fault);
			}
		}

	}

	/**
	 * Commits, and then reports a broken connection.
	 */
	private static final class BrokenCommits implements BeanPostProcessor {

		private final UnaryOperator<DataSource> around;

		private volatile boolean armed;

		private BrokenCommits(UnaryOperator<DataSource> around) {
			this.around = around;
		}

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			return (bean instanceof DataSource dataSource) ? this.around.apply(new DelegatingDataSource(dataSource) {

				@Override
				public Connection getConnection() throws SQLException {
					return observed(super.getConnection());
				}

			}) : bean;
		}

		private Connection observed(Connection connection) {
			AtomicBoolean isBroken = new AtomicBoolean();
			ProxyFactory proxy = new ProxyFactory(connection);
			proxy.addAdvice((MethodInterceptor) (invocation) -> {
				String method = invocation.getMethod().getName();
				Object result = invocation.proceed();
				if (method.equals("commit") && this.armed) {
					this.armed = false;
					isBroken.set(true);
				}
				if (isBroken.get() && !method.equals("close") && !method.equals("isClosed")) {
					throw new SQLException("The connection is broken", "08006");
				}
				return method.equals("isClosed") ? isBroken.get() || (boolean) result : result;
			});
			return (Connection) proxy.getProxy(getClass().getClassLoader());
		}

	}

}
