package io.github.holdfast.transaction;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockOverlapException;
import io.github.holdfast.LockRequest;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * Methods that share a row of the lock table, and those that have it alone, as a lease or
 * by their transaction.
 */
@Timeout(180)
@Tag("F42")
class SharedRowLockTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	@ParameterizedTest
	@CsvSource({ "MARIADB, transaction", "MARIADB, lease", "POSTGRESQL, transaction", "POSTGRESQL, lease" })
	void readersAreTogetherAndWritersAlone(TestDatabase database, String mode) {
		run(database, mode, 10, (nodes) -> {
			nodes.bothWrite();
			nodes.first.shop.read(() -> elsewhere(() -> nodes.second.shop.readOnly(() -> {
				assertRefused(nodes.first.shop::takeNow);
				assertRefused(nodes.second.shop::takeNow);
			})));
			nodes.first.shop.take(() -> assertRefused(nodes.second.shop::readNow));
			nodes.second.shop.readNow();
			assertThat(nodes.first.shop.quantity()).isEqualTo(100 - 5);
			nodes.assertNothingIsKept();
		});
	}

	/**
	 * What a writer does in its transaction is committed before a reader gets the lock.
	 */
	@ParameterizedTest
	@CsvSource({ "MARIADB, transaction", "MARIADB, lease", "POSTGRESQL, transaction", "POSTGRESQL, lease" })
	void readerWaitsForTheCommitOfAWriter(TestDatabase database, String mode) {
		run(database, mode, 10, (nodes) -> {
			nodes.bothWrite();
			AtomicReference<CompletableFuture<Void>> reader = new AtomicReference<>();
			AtomicInteger read = new AtomicInteger();
			nodes.first.shop.take(() -> {
				reader.set(start(() -> nodes.second.shop.read(() -> read.set(nodes.second.shop.quantity()))));
				await().during(Duration.ofMillis(200)).until(() -> read.get() == 0);
			});
			reader.get().join();
			assertThat(read).hasValue(100 - 5);
		});
	}

	@ParameterizedTest
	@CsvSource({ "MARIADB, transaction", "MARIADB, lease", "POSTGRESQL, transaction", "POSTGRESQL, lease" })
	void writerWaitsForAReader(TestDatabase database, String mode) {
		run(database, mode, 10, (nodes) -> {
			nodes.bothWrite();
			AtomicReference<CompletableFuture<Void>> writer = new AtomicReference<>();
			CountDownLatch written = new CountDownLatch(1);
			nodes.first.shop.read(() -> {
				writer.set(start(() -> nodes.second.shop.take(written::countDown)));
				await().during(Duration.ofSeconds(2)).atMost(PATIENCE).until(() -> written.getCount() == 1);
			});
			writer.get().join();
			assertThat(nodes.first.shop.quantity()).isEqualTo(100 - 5);
		});
	}

	/**
	 * Read-only ones are those in which PostgreSQL refuses row locks.
	 */
	@ParameterizedTest
	@CsvSource({ "MARIADB, transaction", "MARIADB, lease", "POSTGRESQL, transaction", "POSTGRESQL, lease" })
	void bodyMayHaveAnyNumberOfReadOnlyTransactions(TestDatabase database, String mode) {
		run(database, mode, 10, (nodes) -> {
			for (int i = 0; i < 3; i++) {
				nodes.first.shop.read(() -> {
				});
				nodes.first.shop.readOnly(nodes.first.shop::quantity);
				nodes.first.shop.read(() -> {
					nodes.first.shop.quantityReadOnly();
					nodes.first.shop.quantityReadOnly();
				});
				assertThatIllegalStateException().isThrownBy(nodes.first.shop::writeShared)
					.withMessageContaining("only read-only transactions may commit under it");
			}
			assertThat(nodes.second.shop.quantity()).isEqualTo(100);
			nodes.assertNothingIsKept();
		});
	}

	@ParameterizedTest
	@CsvSource({ "MARIADB, transaction", "MARIADB, lease", "POSTGRESQL, transaction", "POSTGRESQL, lease" })
	void writersGetThroughThoughReadersOverlapForEver(TestDatabase database, String mode) {
		run(database, mode, 10, (nodes) -> {
			nodes.bothWrite();
			AtomicBoolean end = new AtomicBoolean();
			AtomicInteger reads = new AtomicInteger();
			List<CompletableFuture<Void>> readers = new ArrayList<>();
			for (int i = 0; i < 6; i++) {
				Shop shop = ((i % 2 == 0) ? nodes.first : nodes.second).shop;
				readers.add(start(() -> {
					while (!end.get()) {
						shop.read(() -> pause(Duration.ofMillis(100)));
						reads.incrementAndGet();
					}
				}));
			}
			try {
				await().until(() -> reads.get() > 12);
				for (int i = 0; i < 3; i++) {
					nodes.second.shop.take(() -> {
					});
				}
			}
			finally {
				end.set(true);
			}
			readers.forEach(CompletableFuture::join);
			assertThat(nodes.first.shop.quantity()).isEqualTo(100 - 7);
			nodes.assertNothingIsKept();
		});
	}

	@ParameterizedTest
	@CsvSource({ "MARIADB, transaction", "MARIADB, lease", "POSTGRESQL, transaction", "POSTGRESQL, lease" })
	void moreCallersThanConnectionsDoNotStallThePool(TestDatabase database, String mode) {
		for (int size : new int[] { 2, 10 }) {
			run(database, mode, size, (nodes) -> {
				List<CompletableFuture<Void>> callers = new ArrayList<>();
				for (int i = 0; i < 2 * size + 6; i++) {
					boolean writes = i % 3 == 0;
					callers.add(start(() -> {
						for (int call = 0; call < 8; call++) {
							if (writes) {
								nodes.first.shop.take(() -> {
								});
							}
							else {
								nodes.first.shop.readOnly(nodes.first.shop::quantity);
							}
						}
					}));
				}
				int writers = (callers.size() + 2) / 3;
				callers.forEach(CompletableFuture::join);
				assertThat(nodes.first.shop.quantity()).isEqualTo(100 - 8 * writers);
				nodes.assertNothingIsKept();
			});
		}
	}

	@ParameterizedTest
	@CsvSource({ "MARIADB, transaction", "MARIADB, lease", "POSTGRESQL, transaction", "POSTGRESQL, lease" })
	void readerWhoseSessionWasEndedLearnsOfIt(TestDatabase database, String mode) {
		run(database, mode, 10, (nodes) -> {
			nodes.bothWrite();
			assertThatExceptionOfType(LockOverlapException.class).isThrownBy(() -> nodes.first.shop.readShortly(() -> {
				LockContext lock = LockContext.current().orElseThrow();
				assertThat(lock.isValid()).isTrue();
				nodes.second.endOtherSessions(database);
				await().atMost(PATIENCE).until(() -> !lock.isValid());
				elsewhere(() -> nodes.second.shop.take(() -> {
				}));
			}));
			nodes.first.shop.read(() -> {
			});
			nodes.assertNothingIsKept();
		});
	}

	/**
	 * The call of another thread.
	 */
	private static void assertRefused(Runnable call) {
		elsewhere(() -> assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(call::run)
			.withMessageMatching("(?s).*(or shared|held by .*, whose lease).*"));
	}

	private static void elsewhere(Runnable action) {
		start(action).join();
	}

	private static CompletableFuture<Void> start(Runnable action) {
		CompletableFuture<Void> end = new CompletableFuture<>();
		new Thread(() -> end.completeAsync(() -> {
			action.run();
			return null;
		}, Runnable::run)).start();
		return end;
	}

	/**
	 * Lets a reader stay for so long that others come meanwhile.
	 */
	private static void pause(Duration time) {
		try {
			Thread.sleep(time.toMillis());
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private void run(TestDatabase database, String mode, int size, Scenario scenario) {
		ApplicationContextRunner application = LockedApplication.jdbc(database.newDatabase())
			.withBean(Shop.class)
			.withPropertyValues("holdfast.wait-time=60s", "holdfast.jdbc.mode=" + mode,
					"spring.datasource.hikari.maximum-pool-size=" + size);
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

		/**
		 * Each has learnt that its transaction is alone.
		 */
		void bothWrite() {
			for (int i = 0; i < 2; i++) {
				this.first.shop.take(() -> {
				});
				this.second.shop.take(() -> {
				});
			}
		}

		void assertNothingIsKept() {
			for (Node node : List.of(this.first, this.second)) {
				await().atMost(PATIENCE)
					.until(() -> node.pool().getHikariPoolMXBean().getActiveConnections(), (active) -> active == 0);
			}
		}

	}

	private static final class Node {

		private final ApplicationContext context;

		private final Shop shop;

		Node(ApplicationContext context) {
			this.context = context;
			this.shop = context.getBean(Shop.class);
		}

		HikariDataSource pool() {
			return (HikariDataSource) this.context.getBean(DataSource.class);
		}

		void endOtherSessions(TestDatabase database) {
			JdbcTemplate jdbc = this.context.getBean(JdbcTemplate.class);
			if (database == TestDatabase.POSTGRESQL) {
				jdbc.queryForList("SELECT pg_terminate_backend(pid, 30000) FROM pg_stat_activity "
						+ "WHERE pid <> pg_backend_pid() AND datname = current_database()");
				return;
			}
			jdbc.queryForList("SELECT id FROM information_schema.processlist WHERE db = database() "
					+ "AND id <> connection_id()", Long.class)
				.forEach((id) -> jdbc.execute("KILL " + id));
		}

	}

	/**
	 * Sells from one stock, which others look at.
	 */
	static class Shop extends LockedShop {

		private final JdbcTemplate jdbc;

		Shop(JdbcTemplate jdbc) {
			super(jdbc);
			this.jdbc = jdbc;
		}

		@DistributedLock(key = "'stock'", mode = LockRequest.Mode.SHARED)
		public void read(Runnable work) {
			work.run();
		}

		@DistributedLock(key = "'stock'", mode = LockRequest.Mode.SHARED, leaseTime = "3s")
		public void readShortly(Runnable work) {
			work.run();
		}

		@DistributedLock(key = "'stock'", mode = LockRequest.Mode.SHARED)
		@Transactional(readOnly = true)
		public void readOnly(Runnable work) {
			work.run();
		}

		@DistributedLock(key = "'stock'", mode = LockRequest.Mode.SHARED, waitTime = "0s")
		public void readNow() {
		}

		@DistributedLock(key = "'stock'", mode = LockRequest.Mode.SHARED)
		@Transactional
		public void writeShared() {
			this.jdbc.update("UPDATE stock SET quantity = 0");
		}

		@DistributedLock(key = "'stock'", waitTime = "0s")
		@Transactional
		public void takeNow() {
			sell(() -> {
			});
		}

		@Transactional(readOnly = true)
		public int quantityReadOnly() {
			return quantity();
		}

	}

}
