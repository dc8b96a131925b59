package io.github.holdfast.transaction;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockBackend;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.testsupport.WaitingCall;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

/**
 * The transaction that is all that a locked method does releases a lock in its database
 * by its own commit.
 */
class CommitReleaseTests {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	@ParameterizedTest
	@EnumSource
	void lockTakesOneStatementBeforeTheTransactionAndOneInsideOfIt(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.first.take();
			assertThat(nodes.first.statementsOf(nodes.first::take)).satisfiesExactly(
					(sql) -> assertThat(sql).startsWith("UPDATE holdfast_lock SET epoch"),
					(sql) -> assertThat(sql).startsWith("UPDATE stock"),
					(sql) -> assertThat(sql).contains("UPDATE holdfast_lock SET owner = NULL"),
					(sql) -> assertThat(sql).isEqualTo("commit"));
			assertThat(nodes.first.outcomes).containsOnly(LockListener.Outcome.RELEASED);
			assertThat(nodes.first.owner()).isNull();
			assertThat(nodes.quantity()).isEqualTo(98);
		});
	}

	@ParameterizedTest
	@EnumSource
	void firstCallOfAMethodIsReleasedAfterwards(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.first.take();
			assertThat(nodes.first.statementsOf(nodes.first.shop::takeUnderTwoLocks))
				.filteredOn(CommitReleaseTests::frees)
				.hasSize(2)
				.noneMatch(CommitReleaseTests::freesAtCommit);
		});
	}

	@ParameterizedTest
	@EnumSource
	void severalKeysAreReleasedTogether(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.first.shop.takeUnderTwoLocks();
			List<String> statements = nodes.first.statementsOf(nodes.first.shop::takeUnderTwoLocks);
			assertThat(statements).filteredOn(CommitReleaseTests::freesAtCommit).hasSize(2);
			assertThat(statements).last().isEqualTo("commit");
			assertThat(nodes.quantity()).isEqualTo(98);
		});
	}

	@ParameterizedTest
	@EnumSource
	void waiterOfTheSameJvmIsHandedTheLease(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.first.take();
			AtomicReference<CompletableFuture<Long>> waiter = new AtomicReference<>();
			AtomicReference<Long> epoch = new AtomicReference<>();
			List<String> statements = nodes.first.statementsOf(() -> {
				nodes.first.shop.take(() -> {
					epoch.set(currentEpoch());
					waiter.set(WaitingCall.start(() -> {
						AtomicReference<Long> own = new AtomicReference<>();
						nodes.first.shop.take(() -> own.set(currentEpoch()));
						return own.get();
					}));
				});
				assertThat(waiter.get().join()).isEqualTo(epoch.get());
			});
			assertThat(statements).filteredOn((sql) -> sql.startsWith("UPDATE holdfast_lock SET epoch")).hasSize(1);
			assertThat(statements).filteredOn(CommitReleaseTests::freesAtCommit).as("by the waiter").hasSize(1);
			assertThat(nodes.quantity()).isEqualTo(97);
		});
	}

	/**
	 * A successor may be a waiter of the same JVM that has come while the commit was
	 * under way.
	 */
	@ParameterizedTest
	@CsvSource({ "MARIADB,true", "MARIADB,false", "POSTGRESQL,true", "POSTGRESQL,false", "H2,true", "H2,false" })
	void successorGetsTheLockAfterTheCommit(TestDatabase database, boolean sameJvm) {
		run(database, (nodes) -> {
			nodes.first.take();
			nodes.second.take();
			Node successor = sameJvm ? nodes.first : nodes.second;
			AtomicReference<CompletableFuture<Void>> second = new AtomicReference<>();
			AtomicBoolean hasBegun = new AtomicBoolean();
			nodes.first.beforeCommit(() -> {
				Runnable take = () -> successor.shop.take(() -> hasBegun.set(true));
				if (sameJvm) {
					second.set(WaitingCall.start(() -> {
						take.run();
						return null;
					}));
				}
				else {
					second.set(CompletableFuture.runAsync(take));
					await().atMost(PATIENCE).until(() -> nodes.second.statementCount() > 0);
				}
				assertThat(hasBegun).isFalse();
			});
			nodes.second.clearStatements();
			nodes.first.take();
			second.get().join();
			assertThat(nodes.quantity()).isEqualTo(96);
			assertThat(nodes.first.lost).hasValue(0);
			assertThat(nodes.second.lost).hasValue(0);
		});
	}

	@ParameterizedTest
	@EnumSource
	void rolledBackTransactionLeavesTheReleaseToTheCall(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.first.take();
			List<String> statements = nodes.first
				.statementsOf(() -> assertThatExceptionOfType(UnsupportedOperationException.class)
					.isThrownBy(() -> nodes.first.shop.take(() -> {
						throw new UnsupportedOperationException();
					})));
			assertThat(statements).filteredOn(CommitReleaseTests::frees).hasSize(1);
			assertThat(nodes.first.owner()).isNull();
			assertThat(nodes.quantity()).isEqualTo(99);
		});
	}

	/**
	 * The database refuses the COMMIT itself, after the lock was proven.
	 */
	@ParameterizedTest
	@EnumSource(names = "POSTGRESQL")
	void refusedCommitLeavesTheReleaseToTheCall(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.first.jdbc
				.execute("ALTER TABLE audit ADD CONSTRAINT one UNIQUE (entry) DEFERRABLE INITIALLY DEFERRED");
			nodes.first.take();
			List<String> statements = nodes.first
				.statementsOf(() -> assertThat(catchThrowable(() -> nodes.first.shop.take(() -> {
					nodes.first.jdbc.update("INSERT INTO audit VALUES (1)");
					nodes.first.jdbc.update("INSERT INTO audit VALUES (1)");
				}))).isNotNull());
			assertThat(statements).filteredOn(CommitReleaseTests::freesAtCommit).hasSize(1);
			assertThat(statements).filteredOn(CommitReleaseTests::frees).as("that, and the usual release").hasSize(2);
			assertThat(nodes.first.owner()).isNull();
			assertThat(nodes.first.lost).hasValue(0);
			assertThat(nodes.quantity()).isEqualTo(99);
		});
	}

	@ParameterizedTest
	@EnumSource
	void supersededHolderIsRolledBack(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.first.take();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> nodes.first.shop.take(() -> {
				nodes.first.overtake(nodes.second);
			}));
			assertThat(nodes.first.lost).hasPositiveValue();
			assertThat(nodes.quantity()).isEqualTo(98);
		});
	}

	@ParameterizedTest
	@EnumSource
	void lockOfASuccessorIsNotFreed(TestDatabase database) throws Exception {
		run(database, (nodes) -> {
			nodes.first.take();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> nodes.first.shop.take(() -> {
				nodes.first.expire();
				assertThat(nodes.second.acquire(PATIENCE)).isNotNull();
			}));
			assertThat(nodes.first.owner()).isNotNull();
		});
	}

	@ParameterizedTest
	@EnumSource
	void minimumHoldTimeIsKept(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.first.shop.takeForTenSeconds();
			new JdbcTemplate(nodes.first.dataSource()).update("UPDATE holdfast_lock SET owner = NULL");
			List<String> statements = nodes.first.statementsOf(nodes.first.shop::takeForTenSeconds);
			assertThat(statements).noneMatch(CommitReleaseTests::frees);
			assertThat(nodes.first.owner()).isNotNull();
		});
	}

	/**
	 * What this one does after its commit is done under the lock.
	 */
	@ParameterizedTest
	@EnumSource
	void callbackThatTheMethodRegistersThisTimeHasTheLock(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.first.take();
			AtomicReference<String> owner = new AtomicReference<>();
			nodes.first.shop
				.take(() -> TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void afterCommit() {
						owner.set(nodes.second.owner());
					}

				}));
			assertThat(owner.get()).isNotNull();
			assertThat(nodes.first.statementsOf(nodes.first::take)).noneMatch(CommitReleaseTests::freesAtCommit);
		});
	}

	@ParameterizedTest
	@EnumSource
	void otherListenerOfTheManagerHasTheLock(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.first.take();
			AtomicReference<String> owner = new AtomicReference<>();
			nodes.first.context.getBean(ConfigurableTransactionManager.class)
				.addListener(new TransactionExecutionListener() {

					@Override
					public void afterCommit(TransactionExecution transaction, @Nullable Throwable commitFailure) {
						owner.set(nodes.second.owner());
					}

				});
			nodes.first.take();
			assertThat(owner.get()).isNotNull();
		});
	}

	@ParameterizedTest
	@EnumSource
	void methodWithInnerTransactionsReleasesAfterwards(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.first.take();
			for (int i = 1; i < 3; i++) {
				List<String> statements = nodes.first
					.statementsOf(() -> nodes.first.shop.take(nodes.first.audit::write));
				assertThat(statements).filteredOn(CommitReleaseTests::frees).hasSize(1);
				assertThat(statements).noneMatch(CommitReleaseTests::freesAtCommit);
			}
			assertThat(nodes.first.owner()).isNull();
		});
	}

	@ParameterizedTest
	@EnumSource
	void readOnlyTransactionReleasesAfterwards(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.first.shop.look();
			assertThat(nodes.first.statementsOf(nodes.first.shop::look)).noneMatch(CommitReleaseTests::freesAtCommit);
			assertThat(nodes.first.owner()).isNull();
		});
	}

	@ParameterizedTest
	@EnumSource
	void leaseOfAnOuterCallIsNotReleased(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.first.take();
			nodes.first.shop.takeUnderTwoLocks();
			nodes.first.context.getBean(LockTemplate.class).run("stock", () -> {
				nodes.first.take();
				assertThat(nodes.first.owner()).isNotNull();
				nodes.first.shop.takeUnderTwoLocks();
				assertThat(nodes.first.owner()).isNotNull();
			});
			assertThat(nodes.first.owner()).isNull();
			assertThat(nodes.quantity()).isEqualTo(96);
		});
	}

	/**
	 * A renewal that was sent before waits for the row, and finds that the lock is free.
	 */
	@ParameterizedTest
	@EnumSource
	void renewalThatMeetsTheCommitNeitherEndsNorRevivesTheLock(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.first.take();
			AtomicReference<LockLease> lease = new AtomicReference<>();
			AtomicReference<CompletableFuture<Boolean>> renewal = new AtomicReference<>();
			nodes.first.beforeCommit(() -> {
				nodes.first.clearStatements();
				renewal.set(CompletableFuture.supplyAsync(() -> lease.get().renew(Duration.ofMinutes(5))));
				await().atMost(PATIENCE)
					.until(() -> nodes.first.statements().stream().anyMatch((sql) -> sql.contains("holdfast_renewal")));
			});
			nodes.first.afterCommit(() -> assertThat(renewal.get().join()).isFalse());
			nodes.first.shop.take(() -> lease.set(LockContext.current().orElseThrow().leases().get(0)));
			assertThat(nodes.first.lost).hasValue(0);
			assertThat(nodes.first.outcomes).containsOnly(LockListener.Outcome.RELEASED);
			assertThat(nodes.second.context.getBean(LockBackend.class).holder("lock:stock")).isNull();
			nodes.second.take();
			assertThat(nodes.quantity()).isEqualTo(97);
		});
	}

	/**
	 * The row that the transaction has locked keeps others out, also when the lease has
	 * run out meanwhile.
	 */
	@ParameterizedTest
	@EnumSource
	void lockIsNotRenewedAndNotTakenWhileItsCommitIsUnderWay(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.first.shop.takeForShortLease();
			nodes.first.beforeCommit(() -> {
				nodes.first.clearStatements();
				await().during(Duration.ofMillis(2500))
					.atMost(PATIENCE)
					.until(() -> nodes.first.statements()
						.stream()
						.noneMatch((sql) -> sql.contains("holdfast_renewal (")));
				assertThat(nodes.second.acquire(Duration.ZERO)).isNull();
			});
			nodes.first.shop.takeForShortLease();
			assertThat(nodes.first.lost).hasValue(0);
			assertThat(nodes.first.outcomes).containsOnly(LockListener.Outcome.RELEASED);
			assertThat(nodes.second.acquire(PATIENCE)).isNotNull();
			assertThat(nodes.quantity()).isEqualTo(98);
		});
	}

	/**
	 * Nobody is told, but the row says whether the commit was carried out.
	 */
	@ParameterizedTest
	@CsvSource({ "MARIADB,true", "MARIADB,false", "POSTGRESQL,true", "POSTGRESQL,false", "H2,true", "H2,false" })
	void lockIsFreeOnlyIfACommitOfUnknownOutcomeWasCarriedOut(TestDatabase database, boolean carriedOut) {
		run(database, (nodes) -> {
			nodes.first.take();
			nodes.first.hooks().breakCommit(carriedOut);
			assertThat(catchThrowable(nodes.first::take)).isNotNull();
			assertThat(nodes.first.outcomes).last().isEqualTo(LockListener.Outcome.KEPT);
			assertThat(nodes.second.owner() == null).isEqualTo(carriedOut);
			nodes.second.take();
			assertThat(nodes.quantity()).isEqualTo(carriedOut ? 97 : 98);
			assertThat(nodes.first.lost).hasValue(0);
		});
	}

	/**
	 * The epoch in the row tells the optimistic one.
	 */
	@ParameterizedTest
	@EnumSource
	void optimisticHolderIsOvertakenByACommitThatReleases(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.second.take();
			AtomicInteger bodies = new AtomicInteger();
			nodes.first.shop.takeOptimistically(() -> {
				if (bodies.incrementAndGet() == 1) {
					CompletableFuture.runAsync(nodes.second::take).join();
				}
			});
			assertThat(bodies).hasValue(2);
			assertThat(nodes.quantity()).isEqualTo(97);
		});
	}

	private static boolean frees(String sql) {
		return sql.contains("UPDATE holdfast_lock SET owner = NULL");
	}

	private static boolean freesAtCommit(String sql) {
		return frees(sql) && sql.contains("epoch = ?");
	}

	private static long currentEpoch() {
		return LockContext.current().orElseThrow().leases().get(0).epoch();
	}

	private static void run(TestDatabase database, Scenario scenario) {
		ApplicationContextRunner application = LockedApplication.jdbc(database.newDatabase())
			.withUserConfiguration(Recording.class)
			.withBean(LockedShop.Audit.class)
			.withBean(Shop.class)
			.withBean(Listener.class)
			.withPropertyValues("holdfast.jdbc.mode=lease", "holdfast.commit-guard=fence", "holdfast.lease-time=4s",
					"holdfast.wait-time=30s", "holdfast.handover.max-time=30s");
		application.run((first) -> {
			LockedShop.createTables(first.getBean(JdbcTemplate.class));
			application.run((second) -> scenario.run(new Nodes(new Node(first), new Node(second))));
		});
	}

	/**
	 * What happens on two nodes.
	 */
	private interface Scenario {

		void run(Nodes nodes) throws Exception;

	}

	private record Nodes(Node first, Node second) {

		int quantity() {
			return this.second.shop.quantity();
		}

	}

	private static final class Node {

		private final ApplicationContext context;

		private final Shop shop;

		private final LockedShop.Audit audit;

		private final JdbcTemplate jdbc;

		private final AtomicInteger lost;

		private final List<LockListener.Outcome> outcomes;

		Node(ApplicationContext context) {
			this.context = context;
			this.shop = context.getBean(Shop.class);
			this.audit = context.getBean(LockedShop.Audit.class);
			this.jdbc = context.getBean(JdbcTemplate.class);
			this.lost = context.getBean(Listener.class).lost;
			this.outcomes = context.getBean(Listener.class).outcomes;
		}

		void take() {
			this.shop.take(() -> {
			});
		}

		HookedDataSource hooks() {
			return (HookedDataSource) this.context.getBean(DataSource.class);
		}

		DataSource dataSource() {
			return this.hooks().getTargetDataSource();
		}

		List<String> statementsOf(Runnable action) {
			clearStatements();
			action.run();
			return statements();
		}

		List<String> statements() {
			return hooks().statements();
		}

		int statementCount() {
			return statements().size();
		}

		void clearStatements() {
			hooks().clear();
		}

		void beforeCommit(Runnable action) {
			hooks().beforeCommit = action;
		}

		void afterCommit(Runnable action) {
			hooks().afterCommit = action;
		}

		@Nullable String owner() {
			return new JdbcTemplate(dataSource()).queryForObject("SELECT max(owner) FROM holdfast_lock WHERE epoch > 0",
					String.class);
		}

		void expire() {
			CompletableFuture
				.runAsync(() -> new JdbcTemplate(dataSource())
					.update("UPDATE holdfast_lock SET expires_at = acquired_at WHERE owner IS NOT NULL"))
				.join();
		}

		void overtake(Node successor) {
			expire();
			CompletableFuture.runAsync(successor::take).join();
		}

		@Nullable LockLease acquire(Duration waitTime) {
			return CompletableFuture.supplyAsync(() -> {
				try {
					return this.context.getBean(LockBackend.class)
						.acquire(new LockRequest("lock:stock", "test", LockRequest.Mode.EXCLUSIVE, false, waitTime,
								PATIENCE, "successor", "test", 0));
				}
				catch (InterruptedException ex) {
					throw new IllegalStateException(ex);
				}
			}).join();
		}

	}

	/**
	 * Sells from one stock.
	 */
	static class Shop extends LockedShop {

		Shop(JdbcTemplate jdbc) {
			super(jdbc);
		}

		@DistributedLock(key = "'stock'", leaseTime = "2s")
		@Transactional
		public void takeForShortLease() {
			sell(() -> {
			});
		}

		@DistributedLock(key = "'stock'", minHoldTime = "10s")
		@Transactional
		public void takeForTenSeconds() {
			sell(() -> {
			});
		}

		@DistributedLock(key = "'stock'", mode = LockRequest.Mode.OPTIMISTIC)
		@Transactional
		public void takeOptimistically(Runnable whileRead) {
			sell(whileRead);
		}

	}

	static class Listener implements LockListener {

		private final AtomicInteger lost = new AtomicInteger();

		private final List<Outcome> outcomes = new CopyOnWriteArrayList<>();

		@Override
		public void lost(Call call, String key, Duration holdTime) {
			this.lost.incrementAndGet();
		}

		@Override
		public void released(Call call, Outcome outcome, Duration holdTime) {
			this.outcomes.add(outcome);
		}

	}

	/**
	 * Does something around the next commit, or breaks the connection then.
	 */
	private static final class HookedDataSource extends RecordingDataSource {

		private static final Runnable NOTHING = () -> {
		};

		private volatile Runnable beforeCommit = NOTHING;

		private volatile Runnable afterCommit = NOTHING;

		private HookedDataSource(DataSource target) {
			super(target);
		}

		void breakCommit(boolean carriedOut) {
			Runnable breaks = () -> {
				throw new BrokenException();
			};
			if (carriedOut) {
				this.afterCommit = breaks;
			}
			else {
				this.beforeCommit = breaks;
			}
		}

		@Override
		public Connection getConnection() throws SQLException {
			Connection target = super.getConnection();
			AtomicBoolean broken = new AtomicBoolean();
			return (Connection) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Connection.class },
					(proxy, method, arguments) -> {
						boolean commit = method.getName().equals("commit");
						try {
							if (broken.get() && !List.of("close", "isClosed").contains(method.getName())) {
								throw new BrokenException();
							}
							if (commit) {
								takeBeforeCommit().run();
							}
							Object result = method.invoke(target, arguments);
							if (commit) {
								takeAfterCommit().run();
							}
							return result;
						}
						catch (BrokenException ex) {
							if (!broken.getAndSet(true)) {
								// As the server does when the connection breaks
								target.rollback();
							}
							throw new SQLException("The connection is broken", "08006");
						}
						catch (InvocationTargetException ex) {
							throw ex.getCause();
						}
					});
		}

		private Runnable takeBeforeCommit() {
			Runnable action = this.beforeCommit;
			this.beforeCommit = NOTHING;
			return action;
		}

		private Runnable takeAfterCommit() {
			Runnable action = this.afterCommit;
			this.afterCommit = NOTHING;
			return action;
		}

	}

	private static final class BrokenException extends RuntimeException {

		private static final long serialVersionUID = 1L;

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	static class Recording {

		@Bean
		static BeanPostProcessor hookedDataSource() {
			return new BeanPostProcessor() {

				@Override
				public Object postProcessAfterInitialization(Object bean, String beanName) {
					return (bean instanceof DataSource dataSource) ? new HookedDataSource(dataSource) : bean;
				}

			};
		}

	}

}
