package io.github.holdfast.transaction;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockContext;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.LockManager;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.ResourcelessTransactionManager;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** Optimistic locks alone, beside each other, and beside exclusive ones. */
class OptimisticLockTests {

	private static final Runnable NOTHING = () -> {
	};

	/** PostgreSQL refuses the first commit at its end, as serialization failures. */
	@Test
	void conflictThatTheDatabaseFindsInTheCommitIsOneToo() {
		run(TestDatabase.POSTGRESQL, (context, documents) -> {
			JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
			jdbc.execute("CREATE SEQUENCE commits");
			jdbc.execute("""
					CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
						IF nextval('commits') = 1 THEN RAISE 'conflict' USING ERRCODE = '40001'; END IF;
						RETURN NULL;
					END $$""");
			jdbc.execute("""
					CREATE CONSTRAINT TRIGGER refuse AFTER UPDATE ON document DEFERRABLE INITIALLY DEFERRED
					FOR EACH ROW EXECUTE FUNCTION refuse()""");
			assertThat(documents.merge("once", NOTHING)).isEqualTo(2);
			assertThat(documents.entries()).containsExactly("once");
		});
	}

	@ParameterizedTest
	@EnumSource
	void methodWhoseCommitIsOvertakenRunsAgain(TestDatabase database) {
		run(database, (context, documents) -> {
			int attempt = documents.merge("first",
					once(() -> elsewhere(() -> documents.mergeInNewTransaction("second", NOTHING))));
			assertThat(attempt).as("that of the other one, two of its own").isEqualTo(3);
			assertThat(documents.entries()).containsExactly("second", "first");
		});
	}

	@ParameterizedTest
	@EnumSource
	void commitOfAnExclusiveHolderIsAConflict(TestDatabase database) {
		run(database, (context, documents) -> {
			documents.merge("first", once(() -> elsewhere(() -> documents.mergeExclusively("second", NOTHING))));
			assertThat(documents.attempts()).isEqualTo(2);
			assertThat(documents.entries()).containsExactly("second", "first");
		});
	}

	@ParameterizedTest
	@EnumSource
	void holderWhoseLeaseHasRunOutIsKeptFromCommitting(TestDatabase database) {
		run(database, (context, documents) -> {
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> documents.exclusivelyWithoutTransaction(() -> {
					elsewhere(() -> {
						context.getBean(JdbcTemplate.class).update("UPDATE holdfast_lock SET expires_at = 1");
						documents.merge("kept", NOTHING);
					});
					documents.mergeExclusively("lost", NOTHING);
				}));
			assertThat(documents.entries()).containsExactly("kept");
		});
	}

	@ParameterizedTest
	@EnumSource
	void rowThatIsDeletedMeanwhileIsAConflict(TestDatabase database) {
		run(database, (context, documents) -> {
			JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
			documents.merge("first", NOTHING);
			documents.merge("second", once(() -> elsewhere(() -> {
				jdbc.update("DELETE FROM holdfast_lock");
				documents.mergeInNewTransaction("third", NOTHING);
			})));
			assertThat(documents.attempts()).isEqualTo(4);
			assertThat(documents.entries()).containsExactly("first", "third", "second");
		});
	}

	@ParameterizedTest
	@EnumSource
	void conflictThatTheDatabaseFindsFirstIsOneToo(TestDatabase database) {
		run(database, (context, documents) -> {
			TransactionTemplate serializable = transaction(context);
			serializable.setIsolationLevel(TransactionDefinition.ISOLATION_SERIALIZABLE);
			LockTemplate optimistic = context.getBean(LockTemplate.class).withMode(LockMode.OPTIMISTIC);
			List<CompletableFuture<Void>> others = new ArrayList<>();
			AtomicInteger attempts = new AtomicInteger();
			Runnable meanwhile = once(
					() -> others.add(start(() -> documents.mergeInNewTransaction("second", NOTHING))));
			optimistic.withWaitTime(Duration.ofSeconds(60))
				.run(DocumentService.KEY, () -> serializable.executeWithoutResult((status) -> {
					attempts.incrementAndGet();
					documents.add("first", () -> {
						meanwhile.run();
						if (attempts.get() == 1 && database != TestDatabase.MARIADB) {
							others.get(0).join();
						}
					});
				}));
			others.get(0).join();
			assertThat(documents.entries()).containsExactlyInAnyOrder("first", "second");
		});
	}

	@Test
	void conflictWithASnapshotIsOneToo() {
		DatabaseAccess access = TestDatabase.MARIADB.newDatabase();
		run(LockedApplication.jdbc(access.with("?sessionVariables=innodb_snapshot_isolation=ON")),
				(context, documents) -> {
					LockTemplate optimistic = context.getBean(LockTemplate.class).withMode(LockMode.OPTIMISTIC);
					Runnable meanwhile = once(
							() -> elsewhere(() -> documents.mergeInNewTransaction("second", NOTHING)));
					optimistic.run(DocumentService.KEY, () -> transaction(context)
						.executeWithoutResult((status) -> documents.add("first", meanwhile)));
					assertThat(documents.entries()).containsExactlyInAnyOrder("first", "second");
				});
	}

	@ParameterizedTest
	@EnumSource
	void attemptsEndWithTheWaitTime(TestDatabase database) {
		run(database, (context, documents) -> {
			AtomicInteger attempts = new AtomicInteger();
			LockTemplate optimistic = context.getBean(LockTemplate.class)
				.withMode(LockMode.OPTIMISTIC)
				.withWaitTime(Duration.ofMillis(300));
			assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> optimistic
				.run(DocumentService.KEY, () -> transaction(context).executeWithoutResult((status) -> {
					documents.add("never", () -> elsewhere(() -> documents.mergeInNewTransaction("x", NOTHING)));
					attempts.incrementAndGet();
				})))
				.withMessageStartingWith("Lock 'document' was not acquired within 300 ms; attempts")
				.withMessageEndingWith("rolled back because another commit came first: " + attempts)
				.withCauseInstanceOf(LockLostException.class)
				.satisfies((ex) -> {
					assertThat(ex.reason()).isEqualTo(LockNotAcquiredException.Reason.CONFLICT);
					assertThat(ex.attempts()).isEqualTo(attempts.get()).isPositive();
				});
			assertThat(documents.entries()).containsOnly("x").hasSize(attempts.get());
		});
	}

	@Test
	void overtakenCallWithoutWaitTimeIsSkippedOrReplaced() {
		run(TestDatabase.H2, (context, documents) -> {
			Runnable overtaking = () -> elsewhere(() -> documents.mergeInNewTransaction("x", NOTHING));
			assertThat(documents.mergeOrSkip("a", overtaking)).isNull();
			assertThat(documents.mergeOrLater("b", overtaking)).isEqualTo("later b after 1");
			assertThat(documents.mergeOrSkip("c", NOTHING)).isEqualTo("merged");
			assertThat(documents.entries()).containsExactly("x", "x", "c");
		});
	}

	@Test
	void busyLockInsideOfTheBodyIsNotTakenForAConflict() {
		run(TestDatabase.H2, (context, documents) -> {
			LockNotAcquiredException inner = new LockNotAcquiredException("other", LockNotAcquiredException.Reason.BUSY,
					Duration.ZERO, null, null);
			assertThatExceptionOfType(LockNotAcquiredException.class)
				.isThrownBy(() -> documents.mergeOrSkip("a", () -> {
					throw inner;
				}))
				.isSameAs(inner);
			assertThat(documents.attempts()).isOne();
		});
	}

	@Test
	void bodyWithoutACheckedCommitIsAnError() {
		run(TestDatabase.H2,
				(context, documents) -> assertThatIllegalStateException()
					.isThrownBy(() -> documents.optimisticallyWithoutTransaction(NOTHING))
					.withMessageContaining("no transaction was committed")
					.withMessageContaining("@Transactional"));
	}

	@Test
	void commitOfAnotherManagerIsNoCommit() {
		run(application(TestDatabase.H2).withUserConfiguration(ResourcelessTransactionManager.BesideJdbc.class)
			.withPropertyValues("holdfast.transaction-managers.steps=lease"), (context, documents) -> {
				TransactionTemplate other = new TransactionTemplate(
						context.getBean(ResourcelessTransactionManager.class));
				assertThatIllegalStateException().isThrownBy(
						() -> documents.optimisticallyWithoutTransaction(() -> other.executeWithoutResult((status) -> {
						})))
					.withMessageContaining("no transaction was committed");
			});
	}

	@ParameterizedTest
	@EnumSource
	void transactionThatWasRolledBackIsNoCommit(TestDatabase database) {
		run(database, (context, documents) -> {
			documents.optimisticallyWithoutTransaction(() -> {
				assertThatIllegalStateException().isThrownBy(() -> documents.mergeUnlocked("first", () -> {
					throw new IllegalStateException("rolled back");
				}));
				documents.mergeUnlocked("second", NOTHING);
			});
			assertThat(documents.entries()).containsExactly("second");
		});
	}

	/** A conflict of a later transaction must not repeat what is committed. */
	@Test
	void bodyThatHasCommittedDoesNotRunAgain() {
		run(TestDatabase.H2, (context, documents) -> {
			documents.optimisticallyWithoutTransaction(() -> {
				documents.mergeUnlocked("first", NOTHING);
				assertThatExceptionOfType(LockLostException.class)
					.isThrownBy(() -> documents.mergeUnlocked("second", NOTHING));
			});
			assertThat(documents.attempts()).isOne();
			assertThat(documents.entries()).containsExactly("first");
		});
	}

	@Test
	void commitThatOnlyReadsIsNoCommit() {
		run(TestDatabase.H2, (context, documents) -> {
			TransactionTemplate reading = transaction(context);
			reading.setReadOnly(true);
			Runnable read = () -> reading.executeWithoutResult((status) -> documents.entries());
			assertThatIllegalStateException().isThrownBy(() -> documents.optimisticallyWithoutTransaction(read))
				.withMessageContaining("no transaction was committed");
			Runnable overtaking = once(() -> elsewhere(() -> documents.mergeInNewTransaction("other", NOTHING)));
			documents.optimisticallyWithoutTransaction(() -> {
				read.run();
				documents.mergeUnlocked("second", overtaking);
			});
			assertThat(documents.entries()).containsExactly("other", "second");
		});
	}

	@Test
	void exclusiveLockOfTheCallChainCoversAnOptimisticCall() {
		run(TestDatabase.H2, (context, documents) -> {
			documents.exclusivelyWithoutTransaction(() -> {
				long token = LockContext.current().orElseThrow().fencingToken();
				documents.merge("first",
						() -> assertThat(LockContext.current().orElseThrow().fencingToken()).isEqualTo(token));
				documents.optimisticallyWithoutTransaction(NOTHING);
				documents.merge("second", NOTHING);
			});
			assertThat(documents.entries()).containsExactly("first", "second");
		});
	}

	@ParameterizedTest
	@EnumSource
	void conflictOfAnInnerCallRepeatsTheOuterOne(TestDatabase database) {
		run(database, (context, documents) -> {
			AtomicInteger outer = new AtomicInteger();
			Runnable overtaking = once(() -> elsewhere(() -> documents.mergeInNewTransaction("other", NOTHING)));
			documents.optimisticallyWithoutTransaction(() -> {
				outer.incrementAndGet();
				documents.merge("inner", overtaking);
			});
			assertThat(outer).hasValue(2);
			assertThat(documents.entries()).containsExactly("other", "inner");
		});
	}

	@ParameterizedTest
	@EnumSource
	void conflictOfOneOfSeveralKeysRepeatsTheBody(TestDatabase database) {
		run(database, (context, documents) -> {
			AtomicInteger attempts = new AtomicInteger();
			LockTemplate optimistic = context.getBean(LockTemplate.class).withMode(LockMode.OPTIMISTIC);
			Runnable overtaking = once(() -> elsewhere(() -> documents.mergeInNewTransaction("other", NOTHING)));
			optimistic.execute(List.of("another", DocumentService.KEY), () -> {
				attempts.incrementAndGet();
				assertThat(LockContext.current().orElseThrow().keys()).containsExactly("another", "document");
				transaction(context).executeWithoutResult((status) -> documents.add("both", overtaking));
				return null;
			});
			assertThat(attempts).hasValue(2);
			assertThat(documents.entries()).containsExactly("other", "both");
		});
	}

	@Test
	void contextHasKeysButNoToken() {
		run(TestDatabase.H2, (context, documents) -> {
			documents.merge("first", () -> {
				LockContext lock = LockContext.current().orElseThrow();
				assertThat(lock.keys()).containsExactly("document");
				assertThat(lock.isValid()).isTrue();
				assertThat(lock.remaining()).isNull();
				assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(lock::fencingToken)
					.withMessageContaining("no fencing token");
			});
			assertThat(LockContext.current()).isEmpty();
		});
	}

	@Test
	void lockWithoutABodyIsRefused() {
		run(TestDatabase.H2, (context, documents) -> {
			LockTemplate optimistic = context.getBean(LockTemplate.class).withMode(LockMode.OPTIMISTIC);
			assertThatExceptionOfType(UnsupportedOperationException.class)
				.isThrownBy(() -> optimistic.acquire(DocumentService.KEY))
				.withMessageContaining("call execute or run");
		});
	}

	@Test
	void overtakenCallIsNotRepeatedWhenTheApplicationEnds() {
		run(TestDatabase.H2, (context, documents) -> assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> documents.merge("never", () -> {
				elsewhere(() -> documents.mergeInNewTransaction("x", NOTHING));
				context.getBean(LockManager.class).drain();
			}))
			.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(LockNotAcquiredException.Reason.SHUTDOWN)));
	}

	@Test
	void interruptEndsTheAttempts() {
		run(TestDatabase.H2, (context, documents) -> {
			LockTemplate optimistic = context.getBean(LockTemplate.class)
				.withMode(LockMode.OPTIMISTIC)
				.withWaitTime(Duration.ofSeconds(60));
			assertThatExceptionOfType(LockNotAcquiredException.class)
				.isThrownBy(() -> optimistic.run(DocumentService.KEY, () -> {
					try {
						transaction(context).executeWithoutResult((status) -> documents.add("never",
								() -> elsewhere(() -> documents.mergeInNewTransaction("x", NOTHING))));
					}
					finally {
						Thread.currentThread().interrupt();
					}
				}))
				.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(LockNotAcquiredException.Reason.INTERRUPTED));
			assertThat(Thread.interrupted()).isTrue();
		});
	}

	private static void run(TestDatabase database, BiConsumer<ApplicationContext, DocumentService> scenario) {
		run(application(database), scenario);
	}

	private static ApplicationContextRunner application(TestDatabase database) {
		return LockedApplication.jdbc(database.newDatabase()).withPropertyValues("holdfast.jdbc.mode=lease");
	}

	private static void run(ApplicationContextRunner application,
			BiConsumer<ApplicationContext, DocumentService> scenario) {
		application.withBean(DocumentService.class)
			.run((context) -> scenario.accept(context, context.getBean(DocumentService.class)));
	}

	private static TransactionTemplate transaction(ApplicationContext context) {
		return new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
	}

	private static Runnable once(Runnable action) {
		AtomicInteger calls = new AtomicInteger();
		return () -> {
			if (calls.getAndIncrement() == 0) {
				action.run();
			}
		};
	}

	private static void elsewhere(Runnable action) {
		start(action).join();
	}

	private static CompletableFuture<Void> start(Runnable action) {
		return CompletableFuture.runAsync(action, (task) -> new Thread(task).start());
	}

}
