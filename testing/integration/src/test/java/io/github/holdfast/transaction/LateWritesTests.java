package io.github.holdfast.transaction;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockOverlapException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Writes of a superseded holder in places that the guard could be told of too late:
 * listeners that are added later or fail, callbacks of callbacks, and transaction
 * managers of a child context.
 */
class LateWritesTests {

	private static final String KEPT = "holdfast.on-active-transaction=release-after-completion";

	@Tag("F61")
	@ParameterizedTest
	@CsvSource({ "H2,false", "H2,true", "MARIADB,false", "MARIADB,true", "POSTGRESQL,false", "POSTGRESQL,true" })
	void writeOfAListenerThatWasAddedLaterIsRolledBack(TestDatabase database, boolean kept) {
		run(database, (context, jdbc) -> {
			listeners(context).addListener(new Listener("mine", () -> sellSuperseded(jdbc), false));
			Throwable failure = catchThrowable(() -> lockedTransaction(context, kept, () -> audit(jdbc)));
			assertThat(failure).isInstanceOf(LockOverlapException.class).hasMessageContaining("after the commit");
			assertThat(quantity(jdbc)).as("that of the next holder").isEqualTo(99);
			assertThat(audits(jdbc)).as("its commit was before").isOne();
		});
	}

	/**
	 * The control: nobody has taken the lock.
	 */
	@Tag("F61")
	@ParameterizedTest
	@CsvSource({ "H2,true", "MARIADB,false", "POSTGRESQL,true" })
	void writeOfAListenerThatWasAddedLaterIsCommitted(TestDatabase database, boolean kept) {
		run(database, (context, jdbc) -> {
			listeners(context).addListener(
					new Listener("mine", () -> jdbc.update("UPDATE stock SET quantity = quantity - 1"), false));
			lockedTransaction(context, kept, () -> audit(jdbc));
			assertThat(quantity(jdbc)).isEqualTo(99);
			assertThat(audits(jdbc)).isOne();
		});
	}

	@Tag("F61")
	@ParameterizedTest
	@CsvSource({ "H2,false", "H2,true", "MARIADB,false", "MARIADB,true", "POSTGRESQL,false", "POSTGRESQL,true" })
	void writeOfAListenerAfterARefusedCommitIsRolledBack(TestDatabase database, boolean kept) {
		run(database, (context, jdbc) -> {
			List<Integer> read = new ArrayList<>();
			listeners(context).addListener(
					new Listener("mine", () -> jdbc.update("UPDATE stock SET quantity = ?", read.get(0) - 10), true));
			Throwable failure = catchThrowable(() -> lockedTransaction(context, kept, () -> {
				read.add(quantity(jdbc));
				audit(jdbc);
				supersede(jdbc);
			}));
			assertThat(failure).isInstanceOf(LockLostException.class);
			assertThat(quantity(jdbc)).as("that of the next holder").isEqualTo(99);
			assertThat(audits(jdbc)).isZero();
		});
	}

	@Tag("F61")
	@ParameterizedTest
	@EnumSource(names = "H2")
	void listenersThatWereAddedLaterStayInTheirOrder(TestDatabase database) {
		run(database, (context, jdbc) -> {
			List<String> told = new ArrayList<>();
			List<Listener> added = List.of(new Listener("mine", () -> told.add("first"), false),
					new Listener("mine", () -> told.add("second"), false));
			added.forEach(listeners(context)::addListener);
			lockedTransaction(context, false, () -> audit(jdbc));
			lockedTransaction(context, true, () -> audit(jdbc));
			assertThat(told).containsExactly("first", "second", "first", "second");
			List<TransactionExecutionListener> all = List.copyOf(listeners(context).getTransactionExecutionListeners());
			assertThat(all).containsOnlyOnceElementsOf(added).containsSubsequence(added);
			assertThat(all).last().isInstanceOf(CommitGuard.class);
			assertThat(all).filteredOn(CommitGuard.class::isInstance).hasSize(1);
		});
	}

	/**
	 * Those behind a listener that fails are not told.
	 */
	@Tag("F61")
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void writeOfACallbackIsRolledBackAlthoughAListenerFails(TestDatabase database) {
		run(database, (context, jdbc) -> {
			listeners(context).addListener(new Listener("mine", () -> {
				throw new IllegalStateException("of the listener");
			}, false));
			Throwable failure = catchThrowable(() -> lockedTransaction(context, false, () -> {
				audit(jdbc);
				whenCompleted(() -> sellSuperseded(jdbc));
			}));
			assertThat(failure).isNotNull();
			assertThat(quantity(jdbc)).as("that of the next holder").isEqualTo(99);
			assertThat(audits(jdbc)).isOne();
		});
	}

	/**
	 * Its own statement was good, but nobody is told of the end.
	 */
	@Tag("F61")
	@ParameterizedTest
	@CsvSource({ "H2,false", "H2,true", "MARIADB,false", "MARIADB,true", "POSTGRESQL,false", "POSTGRESQL,true" })
	void writeOfAListenerIsRolledBackIfALaterOneFails(TestDatabase database, boolean kept) {
		run(database, (context, jdbc) -> {
			listeners(context).addListener(new Listener("mine", () -> sellSuperseded(jdbc), false));
			listeners(context).addListener(new Listener("mine", () -> {
				throw new IllegalStateException("of the listener");
			}, false));
			Throwable failure = catchThrowable(() -> lockedTransaction(context, kept, () -> audit(jdbc)));
			assertThat(failure).hasMessage("of the listener");
			assertThat(quantity(jdbc)).as("that of the next holder").isEqualTo(99);
			assertThat(audits(jdbc)).as("its commit was before").isOne();
		});
	}

	/**
	 * Also if this thread never does anything again.
	 */
	@Tag("F61")
	@ParameterizedTest
	@EnumSource
	void lockThatIsKeptToTheEndIsReleasedAlthoughAListenerFails(TestDatabase database) {
		run(database, (context, jdbc) -> {
			listeners(context).addListener(new Listener("mine", () -> {
				throw new IllegalStateException("of the listener");
			}, false));
			assertThat(catchThrowable(() -> lockedTransaction(context, true, () -> audit(jdbc))))
				.hasMessage("of the listener");
			LockTemplate locks = context.getBean(LockTemplate.class).withWaitTime(Duration.ZERO);
			assertThat(CompletableFuture.supplyAsync(() -> catchThrowable(() -> locks.run("A", () -> {
			}))).join()).isNull();
			assertThat(audits(jdbc)).isOne();
		});
	}

	/**
	 * The listener does nothing after the end by itself.
	 */
	@Tag("F61")
	@ParameterizedTest
	@EnumSource
	void writeOfACallbackThatAListenerHasRegisteredIsRolledBack(TestDatabase database) {
		run(database, (context, jdbc) -> {
			listeners(context).addListener(new TransactionExecutionListener() {

				@Override
				public void beforeCommit(TransactionExecution transaction) {
					whenCompleted(() -> jdbc.update("UPDATE stock SET quantity = 0"));
				}

			});
			Throwable failure = catchThrowable(() -> lockedTransaction(context, false, () -> {
				audit(jdbc);
				supersede(jdbc);
			}));
			assertThat(failure).isInstanceOf(LockLostException.class);
			assertThat(quantity(jdbc)).as("that of the next holder").isEqualTo(99);
			assertThat(audits(jdbc)).isZero();
		});
	}

	/**
	 * Languages other than Java let one throw such an exception anywhere. Spring neither
	 * commits nor rolls back then, and tells nobody.
	 */
	@Tag("F61")
	@ParameterizedTest
	@CsvSource({ "H2,CALLBACK", "H2,LISTENER", "H2,ROLLBACK", "MARIADB,CALLBACK", "MARIADB,LISTENER",
			"MARIADB,ROLLBACK", "POSTGRESQL,CALLBACK", "POSTGRESQL,LISTENER", "POSTGRESQL,ROLLBACK" })
	void transactionIsRolledBackAlthoughACheckedExceptionComesBeforeTheCheck(TestDatabase database, Place place) {
		run(database, (context, jdbc) -> {
			listeners(context).addListener(new Unexpected(place));
			Throwable failure = catchThrowable(() -> lockedTransaction(context, false, () -> {
				audit(jdbc);
				supersede(jdbc);
				place.prepare();
			}));
			assertThat(failure).isNotNull();
			assertThat(audits(jdbc)).isZero();
		});
	}

	/**
	 * The control: no lock, and Spring commits.
	 */
	@Tag("F61")
	@ParameterizedTest
	@EnumSource
	void checkedExceptionCommitsWithoutALock(Place place) {
		run(TestDatabase.H2, (context, jdbc) -> {
			listeners(context).addListener(new Unexpected(place));
			assertThat(catchThrowable(() -> transaction(context).executeWithoutResult((status) -> {
				audit(jdbc);
				place.prepare();
			}))).isNotNull();
			assertThat(audits(jdbc)).isOne();
		});
	}

	/**
	 * Spring sends no commit after that exception, but cleans up.
	 */
	@Tag("F51")
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void writeOfACallbackThatACallbackHasRegisteredIsRolledBack(TestDatabase database) {
		run(database, (context, jdbc) -> {
			Throwable failure = catchThrowable(() -> lockedTransaction(context, false, () -> {
				int quantity = quantity(jdbc);
				audit(jdbc);
				TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void beforeCommit(boolean readOnly) {
						whenCompleted(() -> {
							supersede(jdbc);
							jdbc.update("UPDATE stock SET quantity = ?", quantity - 10);
						});
						throw new TransactionSystemException("early");
					}

				});
			}));
			assertThat(failure).hasMessage("early");
			assertThat(quantity(jdbc)).as("that of the next holder").isEqualTo(99);
			assertThat(audits(jdbc)).isZero();
		});
	}

	@Tag("F63")
	@ParameterizedTest
	@CsvSource({ "H2,false", "H2,true", "MARIADB,true", "POSTGRESQL,true" })
	void managerOfAChildContextIsGuarded(TestDatabase database, boolean superseded) {
		run(database, (context, jdbc) -> {
			try (AnnotationConfigApplicationContext child = new AnnotationConfigApplicationContext()) {
				child.setParent(context);
				child.register(Child.class);
				child.refresh();
				TransactionTemplate transaction = new TransactionTemplate(
						child.getBean("childManager", PlatformTransactionManager.class));
				Throwable failure = catchThrowable(() -> context.getBean(LockTemplate.class)
					.run("A", () -> transaction.executeWithoutResult((status) -> {
						audit(jdbc);
						if (superseded) {
							supersede(jdbc);
						}
					})));
				if (superseded) {
					assertThat(failure).isInstanceOf(LockLostException.class);
				}
				else {
					assertThat(failure).isNull();
				}
				assertThat(audits(jdbc)).isEqualTo(superseded ? 0 : 1);
			}
		});
	}

	@Tag("F63")
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void managerOfAParentContextThatABeanHidesIsGuarded(TestDatabase database) {
		DatabaseAccess access = database.newDatabase();
		try (HikariDataSource pool = access.dataSource(6);
				AnnotationConfigApplicationContext parent = new AnnotationConfigApplicationContext()) {
			parent.registerBean(DataSource.class, () -> pool, (definition) -> definition.setDestroyMethodName(""));
			parent.registerBean("transactionManager", JdbcTransactionManager.class,
					() -> new JdbcTransactionManager(pool));
			parent.refresh();
			LockedApplication.jdbc(access)
				.withParent(parent)
				.withBean("transactionManager", JdbcTransactionManager.class, () -> new JdbcTransactionManager(pool))
				.run((context) -> {
					JdbcTemplate jdbc = new JdbcTemplate(pool);
					createTables(jdbc);
					assertThatExceptionOfType(LockLostException.class)
						.isThrownBy(() -> context.getBean(LockTemplate.class)
							.run("A", () -> transaction(parent).executeWithoutResult((status) -> {
								audit(jdbc);
								supersede(jdbc);
							})));
					assertThat(audits(jdbc)).isZero();
				});
		}
	}

	/**
	 * It is committed at once, by the database itself, so that the loss can only be told.
	 */
	@Tag("F51")
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void lossIsToldIfACallbackHasWrittenInAutoCommit(TestDatabase database) {
		run(database, (context, jdbc) -> {
			TransactionTemplate without = transaction(context);
			without.setPropagationBehavior(TransactionDefinition.PROPAGATION_NOT_SUPPORTED);
			Throwable failure = catchThrowable(() -> context.getBean(Annotated.class).run(() -> {
				audit(jdbc);
				whenCompleted(() -> without.executeWithoutResult((status) -> {
					supersede(jdbc);
					audit(jdbc);
				}));
			}));
			assertThat(failure).isInstanceOf(LockOverlapException.class);
			assertThat(audits(jdbc)).isEqualTo(2);
		});
	}

	private static void run(TestDatabase database, BiConsumer<ApplicationContext, JdbcTemplate> test) {
		LockedApplication.jdbc(database.newDatabase())
			.withBean(Annotated.class)
			.withPropertyValues(KEPT)
			.run((context) -> {
				JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
				createTables(jdbc);
				test.accept(context, jdbc);
			});
	}

	private static void createTables(JdbcTemplate jdbc) {
		jdbc.execute("CREATE TABLE stock (quantity integer)");
		jdbc.execute("CREATE TABLE audit (id integer)");
		jdbc.update("INSERT INTO stock VALUES (100)");
	}

	/**
	 * A transaction under a lock, or one in which a lock is taken and kept to its end.
	 */
	private static void lockedTransaction(ApplicationContext context, boolean kept, Runnable body) {
		LockTemplate locks = context.getBean(LockTemplate.class);
		TransactionTemplate transaction = transaction(context);
		transaction.setName("mine");
		if (kept) {
			transaction.executeWithoutResult((status) -> locks.run("A", body::run));
		}
		else {
			locks.run("A", () -> transaction.executeWithoutResult((status) -> body.run()));
		}
	}

	private static TransactionTemplate transaction(ApplicationContext context) {
		return new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
	}

	private static ConfigurableTransactionManager listeners(ApplicationContext context) {
		return context.getBean(ConfigurableTransactionManager.class);
	}

	private static void whenCompleted(Runnable action) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void afterCompletion(int status) {
				action.run();
			}

		});
	}

	/**
	 * Another node takes the lock and a piece.
	 */
	private static void supersede(JdbcTemplate jdbc) {
		CompletableFuture.runAsync(() -> {
			jdbc.update("UPDATE holdfast_lock SET epoch = epoch + 1, owner = NULL");
			jdbc.update("UPDATE stock SET quantity = quantity - 1");
		}).join();
	}

	/**
	 * Another node takes the lock and a piece, between reading and writing.
	 */
	private static void sellSuperseded(JdbcTemplate jdbc) {
		int quantity = quantity(jdbc);
		supersede(jdbc);
		jdbc.update("UPDATE stock SET quantity = ?", quantity - 10);
	}

	private static void audit(JdbcTemplate jdbc) {
		jdbc.update("INSERT INTO audit VALUES (1)");
	}

	private static int audits(JdbcTemplate jdbc) {
		Integer audits = jdbc.queryForObject("SELECT count(*) FROM audit", Integer.class);
		return (audits != null) ? audits : -1;
	}

	private static int quantity(JdbcTemplate jdbc) {
		Integer quantity = jdbc.queryForObject("SELECT quantity FROM stock", Integer.class);
		return (quantity != null) ? quantity : -1;
	}

	static class Annotated {

		@DistributedLock(key = "'A'")
		@Transactional
		public void run(Runnable body) {
			body.run();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Child {

		@Bean
		JdbcTransactionManager childManager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

	}

	/**
	 * Does something after each commit, or each rollback, of a transaction.
	 */
	private static final class Listener implements TransactionExecutionListener {

		private final String transaction;

		private final Runnable action;

		private final boolean afterRollback;

		Listener(String transaction, Runnable action, boolean afterRollback) {
			this.transaction = transaction;
			this.action = action;
			this.afterRollback = afterRollback;
		}

		@Override
		public void afterCommit(TransactionExecution transaction, @Nullable Throwable commitFailure) {
			if (!this.afterRollback && this.transaction.equals(transaction.getTransactionName())) {
				this.action.run();
			}
		}

		@Override
		public void afterRollback(TransactionExecution transaction, @Nullable Throwable rollbackFailure) {
			if (this.afterRollback && this.transaction.equals(transaction.getTransactionName())) {
				this.action.run();
			}
		}

	}

	/**
	 * Where a checked exception is thrown.
	 */
	private enum Place {

		/** In a callback before the commit. */
		CALLBACK {

			@Override
			void prepare() {
				TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void beforeCommit(boolean readOnly) {
						fail();
					}

				});
			}

		},

		/** In a listener before the commit. */
		LISTENER,

		/** In a listener before the rollback of a method that fails. */
		ROLLBACK {

			@Override
			void prepare() {
				throw new IllegalStateException("of the method");
			}

		};

		void prepare() {
		}

		static void fail() {
			Place.<RuntimeException>fail(new IOException("not expected"));
		}

		@SuppressWarnings("unchecked")
		private static <T extends Exception> void fail(Exception checked) throws T {
			throw (T) checked;
		}

	}

	/**
	 * Fails in its place.
	 */
	private record Unexpected(Place place) implements TransactionExecutionListener {

		@Override
		public void beforeCommit(TransactionExecution transaction) {
			if (this.place == Place.LISTENER) {
				Place.fail();
			}
		}

		@Override
		public void beforeRollback(TransactionExecution transaction) {
			if (this.place == Place.ROLLBACK) {
				Place.fail();
			}
		}

	}

}
