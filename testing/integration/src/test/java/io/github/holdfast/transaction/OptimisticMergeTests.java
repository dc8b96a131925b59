package io.github.holdfast.transaction;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.jdbc.core.JdbcTemplate;

import io.github.holdfast.testsupport.ChildJvm;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many threads merge entries into one document at the same time, and none may be missing.
 */
class OptimisticMergeTests {

	private static final Duration PATIENCE = Duration.ofSeconds(120);

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void allMergesAreThere(TestDatabase database, TestReporter reporter) {
		mergeByThreads(database, 25, reporter);
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	@Tag("long")
	void allOfManyMergesAreThere(TestDatabase database, TestReporter reporter) {
		mergeByThreads(database, 100, reporter);
	}

	private static void mergeByThreads(TestDatabase database, int merges, TestReporter reporter) {
		LockPlace.BUSINESS_DATABASE.application(database)
			.withPropertyValues("spring.datasource.hikari.maximum-pool-size=20")
			.withBean(DocumentService.class)
			.run((context) -> {
				DocumentService documents = context.getBean(DocumentService.class);
				merge(16, merges, (thread, entry) -> documents.merge(entry, () -> {
				}));
				assertThat(documents.entries()).containsExactlyInAnyOrderElementsOf(entries("", 16, merges));
				assertThat(documents.attempts()).isGreaterThanOrEqualTo(16 * merges);
				reporter.publishEntry("attempts for " + 16 * merges + " merges on " + database,
						String.valueOf(documents.attempts()));
			});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void mergesAreLostWithoutALock(TestDatabase database) {
		LockPlace.BUSINESS_DATABASE.application(database).withBean(DocumentService.class).run((context) -> {
			DocumentService documents = context.getBean(DocumentService.class);
			CyclicBarrier bothHaveRead = new CyclicBarrier(2);
			merge(2, 1, (thread, entry) -> documents.mergeUnlocked(entry, () -> meet(bothHaveRead)));
			assertThat(documents.entries()).hasSize(1);
		});
	}

	@ParameterizedTest
	@MethodSource("places")
	void keyThatIsUsedInBothModesLosesNothing(TestDatabase database, LockPlace place) {
		place.application(database)
			.withPropertyValues("holdfast.commit-guard=fence", "spring.datasource.hikari.maximum-pool-size=10")
			.withBean(DocumentService.class)
			.run((context) -> {
				DocumentService documents = context.getBean(DocumentService.class);
				merge(6, 20, (thread, entry) -> {
					if (thread % 2 == 0) {
						documents.mergeExclusively(entry, Thread::yield);
					}
					else {
						documents.merge(entry, Thread::yield);
					}
				});
				assertThat(documents.entries()).containsExactlyInAnyOrderElementsOf(entries("", 6, 20));
			});
	}

	static Stream<Arguments> places() {
		return LockPlace.onEachDatabase();
	}

	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = "POSTGRESQL")
	@Tag("F13")
	void allMergesAreThereWhenANodeIsPaused(TestDatabase database, TestReporter reporter) throws Exception {
		mergeWhileANodeIsPaused(database, reporter);
	}

	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = { "H2", "MARIADB" })
	@Tag("F13")
	@Tag("long")
	void allMergesAreThereWhenANodeIsPausedOnOtherDatabases(TestDatabase database, TestReporter reporter)
			throws Exception {
		mergeWhileANodeIsPaused(database, reporter);
	}

	private static void mergeWhileANodeIsPaused(TestDatabase database, TestReporter reporter) throws Exception {
		DatabaseAccess access = database.newRemoteDatabase();
		try (HikariDataSource dataSource = access.dataSource(2)) {
			DatabaseAccess.runScript(dataSource, "io/github/holdfast/jdbc/schema-" + database.platform() + ".sql");
			JdbcTemplate jdbc = new JdbcTemplate(dataSource);
			DocumentService.create(jdbc);
			try (ChildJvm paused = node("a", access); ChildJvm other = node("b", access)) {
				other.send("go");
				for (int i = 0; i < 6; i++) {
					pause(paused, (i % 2 == 0) ? "READ" : "CHECKED");
				}
				paused.send("go on");
				reporter.publishEntry("attempts for 1600 merges on " + database + ", by node",
						paused.await("DONE ", PATIENCE) + " + " + other.await("DONE ", PATIENCE));
			}
			List<String> expected = new ArrayList<>(entries("a", 8, 100));
			expected.addAll(entries("b", 8, 100));
			assertThat(DocumentService.entries(jdbc)).containsExactlyInAnyOrderElementsOf(expected);
		}
	}

	private static ChildJvm node(String name, DatabaseAccess access) {
		return ChildJvm.start(MergeWorker.class, name, "8", "100", access.url(), access.user(), access.password());
	}

	/**
	 * Stop a node while one of its threads is at a point of its merge.
	 */
	private static void pause(ChildJvm node, String point) throws InterruptedException {
		node.send(point);
		node.await("AT " + point, PATIENCE);
		node.pause();
		TimeUnit.MILLISECONDS.sleep(500);
		node.resume();
	}

	private static List<String> entries(String prefix, int threads, int merges) {
		return IntStream.range(0, threads)
			.boxed()
			.flatMap((thread) -> IntStream.range(0, merges).mapToObj((i) -> prefix + thread + "-" + i))
			.toList();
	}

	private static void merge(int threads, int merges, Merge merge) {
		CompletableFuture<?>[] outcomes = IntStream.range(0, threads)
			.mapToObj((thread) -> new CompletableFuture<Void>().completeAsync(() -> {
				for (int i = 0; i < merges; i++) {
					merge.of(thread, thread + "-" + i);
				}
				return null;
			}, (task) -> new Thread(task).start()))
			.toArray(CompletableFuture[]::new);
		CompletableFuture.allOf(outcomes).join();
	}

	private static void meet(CyclicBarrier barrier) {
		try {
			barrier.await();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	@FunctionalInterface
	private interface Merge {

		void of(int thread, String entry);

	}

}
