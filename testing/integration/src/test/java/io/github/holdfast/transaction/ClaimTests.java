package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.IntSupplier;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.event.TransactionPhase;
import org.springframework.transaction.event.TransactionalEventListener;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockBackend;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RoundTrips;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.testsupport.WireProtocol;
import io.github.holdfast.testsupport.WaitingCall;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

/**
 * A transaction that is all that a locked method does writes the row of its lock itself,
 * as its first statement.
 */
class ClaimTests {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final RedisServer redis = RedisServer.shared();

	/**
	 * All but PostgreSQL may roll back what a transaction has done, and let it go on:
	 * they are asked before the commit whether the claim is still there.
	 */
	@ParameterizedTest
	@EnumSource
	void claimIsTheFirstStatement(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.bothClaim();
			List<String> statements = nodes.first.statementsOf(nodes.first::take);
			assertThat(statements).hasSize(3 + checks(database));
			assertThat(statements.get(0)).matches(RecordingDataSource::isClaim);
			assertThat(statements.get(1)).startsWith("UPDATE stock");
			assertThat(statements.subList(2, 2 + checks(database))).allMatch(ClaimTests::isCheck);
			assertThat(statements.get(2 + checks(database))).isEqualTo("commit");
			assertThat(nodes.quantity()).isEqualTo(97);
		});
	}

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void claimTakesOneRoundTripAndItsCheck(TestDatabase database) {
		assertThat(roundTrips(database, CommitGuardLevel.FENCE) - roundTrips(database, CommitGuardLevel.LEASE))
			.isEqualTo(1 + checks(database));
	}

	private static int checks(TestDatabase database) {
		return (database == TestDatabase.POSTGRESQL) ? 0 : 1;
	}

	private static boolean isCheck(String sql) {
		return sql.contains("SELECT 1 FROM holdfast_fence");
	}

	/**
	 * How often the database answers during a call at least, from its begin to its end:
	 * an answer may come in parts, and the pool may look whether a connection is alive.
	 */
	private int roundTrips(TestDatabase database, CommitGuardLevel level) {
		DatabaseAccess direct = database.newDatabase();
		AtomicInteger fewest = new AtomicInteger(Integer.MAX_VALUE);
		try (FaultProxy proxy = new FaultProxy(direct.port())) {
			RoundTrips trips = new RoundTrips(proxy, WireProtocol.valueOf(database.name()));
			application(direct.onPort(proxy.port()))
				.withPropertyValues("holdfast.commit-guard=" + level, "spring.datasource.hikari.maximum-pool-size=1")
				.run((context) -> {
					Node node = new Node(context);
					LockedShop.createTables(node.jdbc);
					for (int i = 0; i < 10; i++) {
						trips.clear();
						node.take();
						fewest.accumulateAndGet(trips.count(), Math::min);
					}
					assertThat(node.shop.quantity()).isEqualTo(90);
				});
		}
		return fewest.get();
	}

	@ParameterizedTest
	@EnumSource
	void firstUseOfAKeyIsInstalled(TestDatabase database) {
		run(database, (nodes) -> {
			List<String> statements = nodes.first.statementsOf(nodes.first::take);
			assertThat(statements).noneMatch(RecordingDataSource::isClaim)
				.anyMatch((sql) -> sql.startsWith("INSERT INTO holdfast_fence"))
				.anyMatch((sql) -> sql.contains("SELECT 1 FROM holdfast_fence"));
		});
	}

	/**
	 * The second node has the lock, but not the row.
	 */
	@ParameterizedTest
	@EnumSource
	void successorWaitsForATransactionThatHasClaimed(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.bothClaim();
			CountDownLatch secondHasRead = new CountDownLatch(1);
			AtomicReference<CompletableFuture<Void>> second = new AtomicReference<>();
			nodes.first.shop.take(() -> {
				this.redis.command("FLUSHALL");
				second.set(CompletableFuture.runAsync(() -> nodes.second.shop.take(secondHasRead::countDown)));
				await().atMost(PATIENCE).until(nodes.second::seesLock);
				assertThat(secondHasRead.getCount()).isOne();
			});
			second.get().join();
			assertThat(nodes.quantity()).isEqualTo(96);
		});
	}

	@ParameterizedTest
	@EnumSource
	void openTransactionThatHasClaimedIsNamedToThoseWhoWaitInVain(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.bothClaim();
			nodes.second.shop.takeSoon();
			nodes.first.shop.take(() -> {
				this.redis.command("FLUSHALL");
				Throwable failure = CompletableFuture.supplyAsync(() -> catchThrowable(nodes.second.shop::takeSoon))
					.join();
				assertThat(failure).isInstanceOf(LockNotAcquiredException.class)
					.hasMessageContaining("is still open in the database");
			});
			assertThat(nodes.quantity()).isEqualTo(96);
		});
	}

	/**
	 * The first node has the lock, and is overtaken before its transaction begins.
	 */
	@ParameterizedTest
	@EnumSource
	void supersededHolderCannotClaimAndAcquiresAgain(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.bothClaim();
			AtomicBoolean overtaken = new AtomicBoolean();
			nodes.first.listen(new TransactionExecutionListener() {

				@Override
				public void beforeBegin(TransactionExecution transaction) {
					if (!overtaken.getAndSet(true)) {
						ClaimTests.this.redis.command("FLUSHALL");
						CompletableFuture.runAsync(nodes.second::take).join();
					}
				}

			});
			AtomicInteger bodies = new AtomicInteger();
			nodes.first.shop.take(bodies::incrementAndGet);
			assertThat(overtaken).isTrue();
			assertThat(bodies).hasValue(1);
			assertThat(nodes.quantity()).isEqualTo(96);
		});
	}

	@ParameterizedTest
	@EnumSource
	void rowThatWasRemovedIsInsertedAgain(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.bothClaim();
			nodes.first.jdbc.update("DELETE FROM holdfast_fence");
			nodes.first.take();
			assertThat(nodes.quantity()).isEqualTo(97);
			assertThat(nodes.first.statementsOf(nodes.first::take).get(0)).matches(RecordingDataSource::isClaim);
		});
	}

	@ParameterizedTest
	@EnumSource
	void refusedClaimIsRolledBackWhateverTheMethodSaysOfExceptions(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.first.shop.takeAndNeverRollBack();
			nodes.first.jdbc.update("DELETE FROM holdfast_fence");
			nodes.first.shop.takeAndNeverRollBack();
			assertThat(nodes.quantity()).isEqualTo(98);
		});
	}

	/**
	 * They are held for another time than the body takes.
	 */
	@ParameterizedTest
	@EnumSource
	void locksWithAMinimumHoldTimeAreNotClaimed(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.first.shop.takeForASecond();
			List<String> statements = nodes.first.statementsOf(nodes.first.shop::takeForASecond);
			assertThat(statements).noneMatch(RecordingDataSource::isClaim)
				.anyMatch((sql) -> sql.contains("SELECT 1 FROM holdfast_fence"));
			assertThat(nodes.quantity()).isEqualTo(98);
		});
	}

	@ParameterizedTest
	@EnumSource
	void severalKeysAreClaimedTogether(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.first.shop.takeUnderTwoLocks();
			List<String> statements = nodes.first.statementsOf(nodes.first.shop::takeUnderTwoLocks);
			assertThat(statements).hasSize(3 + 2 * checks(database))
				.first()
				.asString()
				.contains("UPDATE holdfast_fence");
			assertThat(nodes.quantity()).isEqualTo(98);
		});
	}

	@ParameterizedTest
	@EnumSource
	void nothingIsClaimedIfOneOfSeveralRowsIsMissing(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.first.shop.takeUnderTwoLocks();
			nodes.first.jdbc.update("DELETE FROM holdfast_fence WHERE epoch = (SELECT * FROM "
					+ "(SELECT max(epoch) FROM holdfast_fence) AS latest)");
			nodes.first.shop.takeUnderTwoLocks();
			assertThat(nodes.quantity()).isEqualTo(98);
			assertThat(nodes.first.jdbc.queryForObject("SELECT count(*) FROM holdfast_fence", Integer.class))
				.isEqualTo(2);
		});
	}

	/**
	 * If the outer transaction was rolled back afterwards, an earlier holder could still
	 * overwrite what the inner one has committed.
	 */
	@ParameterizedTest
	@EnumSource
	void innerTransactionIsRefusedOnceUnderAClaim(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.bothClaim();
			assertThatExceptionOfType(ConcurrencyFailureException.class)
				.isThrownBy(() -> nodes.first.shop.take(nodes.first.audit::write))
				.withMessageContaining("Audit.write");
			assertThat(nodes.first.audit.count()).isZero();
			assertThat(nodes.quantity()).isEqualTo(98);
			nodes.first.shop.take(nodes.first.audit::write);
			assertThat(nodes.first.audit.count()).isOne();
			assertThat(nodes.quantity()).isEqualTo(97);
		});
	}

	@ParameterizedTest
	@EnumSource
	void innerTransactionMayReadUnderAClaim(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.bothClaim();
			nodes.first.shop.take(nodes.first.audit::look);
			assertThat(nodes.quantity()).isEqualTo(97);
		});
	}

	/**
	 * Known from its first call, a method with inner transactions never claims.
	 */
	@ParameterizedTest
	@EnumSource
	void innerTransactionsAreLearntFromTheFirstCall(TestDatabase database) {
		run(database, (nodes) -> {
			for (int i = 1; i < 4; i++) {
				nodes.first.shop.take(nodes.first.audit::write);
				assertThat(nodes.first.audit.count()).isEqualTo(i);
			}
			assertThat(nodes.quantity()).isEqualTo(97);
		});
	}

	/**
	 * As a deadlock does that the body knows how to go on after.
	 */
	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "H2" })
	void claimThatTheDatabaseHasRolledBackIsMissedWhenTheLeaseIsOver(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.bothClaim();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> nodes.first.shop.take(() -> {
				LockContext lock = LockContext.current().orElseThrow();
				nodes.first.jdbc.execute("ROLLBACK");
				this.redis.command("FLUSHALL");
				CompletableFuture.runAsync(nodes.second::take).join();
				await().atMost(PATIENCE).until(() -> !lock.isValid());
			}));
			assertThat(nodes.quantity()).isEqualTo(97);
		});
	}

	/**
	 * What the statement that ends the claim implicitly has committed is seen in the
	 * snapshot that is read afterwards.
	 */
	@Test
	void claimThatWasCommittedImplicitlyDoesNotOutliveTheLease() {
		run(TestDatabase.MARIADB, (nodes) -> {
			nodes.bothClaim();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> nodes.first.shop.take(() -> {
				LockContext lock = LockContext.current().orElseThrow();
				nodes.first.jdbc.execute("TRUNCATE TABLE audit");
				nodes.first.shop.quantity();
				this.redis.command("FLUSHALL");
				CompletableFuture.runAsync(nodes.second::take).join();
				await().atMost(PATIENCE).until(() -> !lock.isValid());
			}));
			assertThat(nodes.quantity()).isEqualTo(97);
		});
	}

	/**
	 * They look for the holder in the row, which shows one that has claimed only at the
	 * end.
	 */
	@ParameterizedTest
	@EnumSource
	void holderAfterAnOptimisticOneDoesNotClaim(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.bothClaim();
			TransactionTemplate transaction = new TransactionTemplate(
					nodes.second.context.getBean(PlatformTransactionManager.class));
			nodes.second.context.getBean(LockTemplate.class)
				.withMode(LockRequest.Mode.OPTIMISTIC)
				.run("stock", () -> transaction.executeWithoutResult((status) -> nodes.second.shop.sell(() -> {
				})));
			List<String> statements = nodes.first.statementsOf(nodes.first::take);
			assertThat(statements).anyMatch((sql) -> sql.contains("SELECT 1 FROM holdfast_fence"));
			assertThat(nodes.first.statementsOf(nodes.first::take)).hasSize(3 + checks(database));
			assertThat(nodes.quantity()).isEqualTo(95);
		});
	}

	@ParameterizedTest
	@CsvSource({ "MARIADB,true", "POSTGRESQL,false", "H2,false" })
	void readsOfATransactionThatClaimsAreNotOlder(TestDatabase database, boolean claims) {
		run(database, (nodes) -> {
			nodes.first.shop.takeRepeatably();
			nodes.first.shop.takeRepeatably();
			List<String> statements = nodes.first.statementsOf(nodes.first.shop::takeRepeatably);
			assertThat(RecordingDataSource.isClaim(statements.get(0))).isEqualTo(claims);
			assertThat(nodes.quantity()).isEqualTo(97);
		});
	}

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void nothingIsClaimedWhereSomethingWasReadBefore(TestDatabase database) {
		run(application(database.newDatabase()).withBean(ReadingManager.class), (nodes) -> {
			nodes.bothClaim();
			nodes.first.context.getBean(ReadingManager.class).reads = true;
			nodes.first.take();
			List<String> statements = nodes.first.statementsOf(nodes.first::take);
			assertThat(statements).noneMatch(RecordingDataSource::isClaim)
				.anyMatch((sql) -> sql.contains("holdfast_fence"));
			assertThat(nodes.quantity()).isEqualTo(96);
		});
	}

	@ParameterizedTest
	@EnumSource
	void readOnlyTransactionsDoNotClaim(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.first.shop.look();
			assertThat(nodes.first.statementsOf(nodes.first.shop::look)).noneMatch(RecordingDataSource::isClaim)
				.anyMatch((sql) -> sql.contains("holdfast_fence"));
			assertThat(nodes.first.shop.look()).isEqualTo(100);
		});
	}

	@ParameterizedTest
	@EnumSource
	void transactionsWithCallbacksThatWriteDoNotClaim(TestDatabase database) {
		run(database, (nodes) -> {
			for (int i = 1; i < 3; i++) {
				nodes.first.shop.takeAndPublish(() -> {
				});
				assertThat(nodes.first.audit.count()).isEqualTo(i);
			}
			List<String> statements = nodes.first.statementsOf(() -> nodes.first.shop.takeAndPublish(() -> {
			}));
			assertThat(statements).noneMatch(RecordingDataSource::isClaim)
				.anyMatch((sql) -> sql.contains("holdfast_fence"));
		});
	}

	/**
	 * What was claimed is gone with the transaction, and with it the protection.
	 */
	@ParameterizedTest
	@EnumSource
	void callbacksOfAClaimThatWasRolledBackCannotCommit(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.bothClaim();
			for (int i = 0; i < 2; i++) {
				assertThatExceptionOfType(UnsupportedOperationException.class)
					.isThrownBy(() -> nodes.first.shop.take(() -> {
						nodes.first.context.publishEvent(new Sold());
						throw new UnsupportedOperationException();
					}));
			}
			assertThat(nodes.first.audit.count()).as("that of the second call, which did not claim").isOne();
			assertThat(nodes.quantity()).isEqualTo(98);
		});
	}

	/**
	 * They have one lease, one after the other.
	 */
	@ParameterizedTest
	@EnumSource
	void threadsOfANodeClaimUntilOneHasCommitted(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.bothClaim();
			List<CompletableFuture<Void>> sales = new ArrayList<>();
			List<String> statements = nodes.first.statementsOf(() -> {
				assertThatExceptionOfType(UnsupportedOperationException.class)
					.isThrownBy(() -> nodes.first.shop.take(() -> {
						for (int i = 0; i < 3; i++) {
							sales.add(WaitingCall.start(() -> {
								nodes.first.take();
								return null;
							}));
						}
						throw new UnsupportedOperationException();
					}));
				sales.forEach(CompletableFuture::join);
			});
			assertThat(statements).filteredOn(RecordingDataSource::isClaim)
				.as("that of the sale that failed, and of the next one")
				.hasSize(2);
			assertThat(statements).filteredOn((sql) -> sql.contains("SELECT 1 FROM holdfast_fence"))
				.as("the checks of the others, and that of the next one if it is asked")
				.hasSize(2 + checks(database));
			assertThat(nodes.quantity()).isEqualTo(95);
		});
	}

	/**
	 * A lease that was not claimed is nothing for those who do not claim.
	 */
	@ParameterizedTest
	@EnumSource
	void leaseThatIsNotInTheTableIsNotHandedOverToATemplate(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.bothClaim();
			LockTemplate locks = nodes.first.context.getBean(LockTemplate.class);
			TransactionTemplate transaction = new TransactionTemplate(
					nodes.first.context.getBean(PlatformTransactionManager.class));
			AtomicReference<CompletableFuture<Void>> sale = new AtomicReference<>();
			assertThatExceptionOfType(UnsupportedOperationException.class)
				.isThrownBy(() -> nodes.first.shop.take(() -> {
					sale.set(WaitingCall.start(() -> {
						locks.run("stock",
								() -> transaction.executeWithoutResult((status) -> nodes.first.shop.sell(() -> {
								})));
						return null;
					}));
					throw new UnsupportedOperationException();
				}));
			sale.get().join();
			assertThat(nodes.quantity()).isEqualTo(97);
		});
	}

	/**
	 * The transaction of the first node is open when its lock is lost. The second one has
	 * read before it claims, and waits for the row, as a claim must not.
	 */
	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void updateIsLostByAClaimThatWaitsAfterTheFirstRead(TestDatabase database) {
		run(database, (nodes) -> {
			nodes.bothClaim();
			nodes.second.shop.takeOf(nodes::quantity);
			AtomicReference<Integer> read = new AtomicReference<>();
			nodes.second.recording().rewrite(ClaimTests::waiting);
			nodes.second.recording().beforeClaim((connection) -> read.set(nodes.quantity()));
			sellAtTheSameTime(nodes, () -> nodes.second.shop.takeOf(read::get));
			assertThat(nodes.quantity()).as("one of two sales").isEqualTo(96);
		});
	}

	/**
	 * The same with a snapshot that is older than what the claim has waited for.
	 */
	@Test
	void updateIsLostByAClaimThatWaitsWithASnapshot() {
		run(TestDatabase.MARIADB, (nodes) -> {
			nodes.bothClaim();
			nodes.second.shop.takeRepeatably();
			nodes.second.recording().rewrite(ClaimTests::waiting);
			nodes.second.recording().beforeClaim((connection) -> {
				try (Statement statement = connection.createStatement()) {
					statement.execute("SELECT quantity FROM stock");
				}
				catch (SQLException ex) {
					throw new IllegalStateException(ex);
				}
			});
			sellAtTheSameTime(nodes, nodes.second.shop::takeRepeatably);
			assertThat(nodes.quantity()).as("one of two sales").isEqualTo(96);
		});
	}

	@Test
	void noUpdateIsLostByAClaimAtRepeatableRead() {
		run(TestDatabase.MARIADB, (nodes) -> {
			nodes.bothClaim();
			nodes.second.shop.takeRepeatably();
			sellAtTheSameTime(nodes, nodes.second.shop::takeRepeatably);
			assertThat(nodes.quantity()).isEqualTo(95);
		});
	}

	private static String waiting(String sql) {
		return RecordingDataSource.isClaim(sql)
				? sql.replace("SET STATEMENT innodb_lock_wait_timeout = 0 FOR", "").replace(" SKIP LOCKED", "") : sql;
	}

	/**
	 * The first node has claimed when its lock is lost, and commits when the second one
	 * waits for the row.
	 */
	private void sellAtTheSameTime(Nodes nodes, Runnable second) {
		CountDownLatch secondClaims = new CountDownLatch(1);
		Consumer<Connection> before = nodes.second.recording().beforeClaim();
		nodes.second.recording().beforeClaim((connection) -> {
			before.accept(connection);
			secondClaims.countDown();
		});
		AtomicReference<CompletableFuture<Void>> sale = new AtomicReference<>();
		nodes.first.shop.take(() -> {
			this.redis.command("FLUSHALL");
			sale.set(CompletableFuture.runAsync(second));
			await().atMost(PATIENCE).until(() -> secondClaims.getCount() == 0);
		});
		sale.get().join();
	}

	private void run(TestDatabase database, Scenario scenario) {
		run(application(database.newDatabase()), scenario);
	}

	private void run(ApplicationContextRunner application, Scenario scenario) {
		this.redis.command("FLUSHALL");
		application.run((first) -> {
			LockedShop.createTables(first.getBean(JdbcTemplate.class));
			application.run((second) -> scenario.run(new Nodes(new Node(first), new Node(second))));
		});
	}

	private ApplicationContextRunner application(DatabaseAccess database) {
		return LockedApplication.jdbc(database)
			.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
			.withUserConfiguration(RecordingDataSource.Beans.class)
			.withBean(Audit.class)
			.withBean(Shop.class)
			.withPropertyValues("spring.data.redis.host=127.0.0.1", "spring.data.redis.port=" + this.redis.port(),
					"holdfast.backend=redis", "holdfast.commit-guard=fence", "holdfast.fence.initialize-schema=always",
					"holdfast.lease-time=2s", "holdfast.wait-time=30s", "holdfast.handover.max-time=1m");
	}

	/**
	 * Reads when a transaction begins, if it is told to.
	 */
	@SuppressWarnings("serial")
	static class ReadingManager extends JdbcTransactionManager {

		private volatile boolean reads;

		ReadingManager(DataSource dataSource) {
			super(dataSource);
		}

		@Override
		protected void prepareTransactionalConnection(Connection connection, TransactionDefinition definition)
				throws SQLException {
			super.prepareTransactionalConnection(connection, definition);
			if (this.reads) {
				try (Statement statement = connection.createStatement()) {
					statement.executeQuery("SELECT quantity FROM stock").close();
				}
			}
		}

	}

	/**
	 * What happens on two nodes.
	 */
	private interface Scenario {

		void run(Nodes nodes) throws Exception;

	}

	private record Nodes(Node first, Node second) {

		/**
		 * Each has learnt that its transaction is alone, and knows that there is a row.
		 */
		void bothClaim() {
			this.first.take();
			this.second.take();
		}

		int quantity() {
			return this.second.shop.quantity();
		}

	}

	private static final class Node {

		private final ApplicationContext context;

		private final Shop shop;

		private final Audit audit;

		private final JdbcTemplate jdbc;

		Node(ApplicationContext context) {
			this.context = context;
			this.shop = context.getBean(Shop.class);
			this.audit = context.getBean(Audit.class);
			this.jdbc = context.getBean(JdbcTemplate.class);
		}

		void take() {
			this.shop.take(() -> {
			});
		}

		List<String> statementsOf(Runnable action) {
			recording().clear();
			action.run();
			return recording().statements();
		}

		RecordingDataSource recording() {
			return (RecordingDataSource) this.context.getBean(DataSource.class);
		}

		boolean seesLock() {
			return this.context.getBean(LockBackend.class).holder("lock:stock") != null;
		}

		void listen(TransactionExecutionListener listener) {
			this.context.getBean(ConfigurableTransactionManager.class).addListener(listener);
		}

	}

	/**
	 * Sells from one stock.
	 */
	static class Shop extends LockedShop {

		private final ApplicationEventPublisher events;

		Shop(JdbcTemplate jdbc, ApplicationEventPublisher events) {
			super(jdbc);
			this.events = events;
		}

		@DistributedLock(key = "'stock'")
		@Transactional
		public void takeOf(IntSupplier quantity) {
			sell(quantity.getAsInt());
		}

		@DistributedLock(key = "'stock'", waitTime = "200ms")
		@Transactional
		public void takeSoon() {
			sell(() -> {
			});
		}

		@DistributedLock(key = "'stock'")
		@Transactional(noRollbackFor = Throwable.class)
		public void takeAndNeverRollBack() {
			sell(() -> {
			});
		}

		@DistributedLock(key = "'stock'", minHoldTime = "1s")
		@Transactional
		public void takeForASecond() {
			sell(() -> {
			});
		}

		@DistributedLock(key = "'stock'")
		@Transactional(isolation = Isolation.REPEATABLE_READ)
		public void takeRepeatably() {
			sell(() -> {
			});
		}

		@DistributedLock(key = "'stock'")
		@Transactional
		public void takeAndPublish(Runnable afterwards) {
			sell(() -> this.events.publishEvent(new Sold()));
			afterwards.run();
		}

	}

	/**
	 * Also hears of sales.
	 */
	static class Audit extends LockedShop.Audit {

		Audit(JdbcTemplate jdbc) {
			super(jdbc);
		}

		@TransactionalEventListener(phase = TransactionPhase.AFTER_COMPLETION)
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public void on(Sold sold) {
			write();
		}

		@Transactional(propagation = Propagation.REQUIRES_NEW, readOnly = true)
		public void look() {
			count();
		}

	}

	record Sold() {
	}

}
