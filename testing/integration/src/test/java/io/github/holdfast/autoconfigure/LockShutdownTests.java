package io.github.holdfast.autoconfigure;

import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.JdbcTemplate;

import io.github.holdfast.LockContext;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestBackend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The context closes while one method holds a lock and another one waits for it.
 */
class LockShutdownTests {

	@ParameterizedTest
	@EnumSource(TestBackend.class)
	@Tag("F34")
	void waitersFailAtOnceAndHoldersFinishBeforeTheirLocksAreReleased(TestBackend backend) {
		Set<Thread> before = ourThreads();
		DatabaseAccess access = backend.database().newDatabase();
		ExecutorService threads = Executors.newCachedThreadPool();
		backend.application(access)
			.withPropertyValues("holdfast.wait-time=60s", "holdfast.lease-time=3s")
			.run((context) -> {
				LockTemplate locks = context.getBean(LockTemplate.class);
				CountDownLatch held = new CountDownLatch(1);
				CountDownLatch waiterFailed = new CountDownLatch(1);
				CompletableFuture<Void> holder = CompletableFuture.runAsync(() -> locks.run("key", () -> {
					held.countDown();
					Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> waiterFailed.getCount() == 0);
					LockContext lock = LockContext.current().orElseThrow();
					Awaitility.await("renewal beyond the lease")
						.pollDelay(Duration.ofSeconds(4))
						.atMost(Duration.ofSeconds(24))
						.until(lock::isValid);
				}), threads);
				held.await();
				CompletableFuture<Void> waiter = CompletableFuture.runAsync(() -> locks.run("key", () -> {
				}), threads);
				awaitParked(waiter);
				CompletableFuture<Void> close = CompletableFuture.runAsync(context.getSourceApplicationContext()::close,
						threads);
				assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> waiter.get(30, TimeUnit.SECONDS))
					.havingCause()
					.isInstanceOfSatisfying(LockNotAcquiredException.class,
							(ex) -> assertThat(ex.reason()).isEqualTo(LockNotAcquiredException.Reason.SHUTDOWN));
				waiterFailed.countDown();
				holder.get(60, TimeUnit.SECONDS);
				close.get(30, TimeUnit.SECONDS);
				threads.shutdown();
			});
		if (backend.hasLockTable()) {
			assertReleased(access);
		}
		Awaitility.await().untilAsserted(() -> assertThat(ourThreads()).isSubsetOf(before));
	}

	@Test
	@Tag("F79")
	void nothingIsReleasedAgainWhenTheContextHasClosed() {
		Set<Thread> releasing = new HashSet<>();
		TestBackend.H2.application().withPropertyValues("holdfast.lease-time=1h").run((context) -> {
			LockTemplate.Scope scope = context.getBean(LockTemplate.class).acquire("key");
			context.getBean(JdbcTemplate.class).execute("DROP TABLE holdfast_lock");
			Set<Thread> before = threads(LockShutdownTests::isReleasing);
			scope.close();
			releasing.addAll(threads(LockShutdownTests::isReleasing));
			releasing.removeAll(before);
			assertThat(releasing).isNotEmpty();
		});
		Awaitility.await().until(() -> releasing.stream().noneMatch(Thread::isAlive));
	}

	/**
	 * Other tests of this JVM may still have locks to release in servers that are gone.
	 */
	private static Set<Thread> ourThreads() {
		return threads(
				(name) -> name.startsWith("holdfast-") && !isReleasing(name) && !name.startsWith("holdfast-timer"));
	}

	private static boolean isReleasing(String name) {
		return name.startsWith("holdfast-release");
	}

	private static Set<Thread> threads(Predicate<String> name) {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> name.test(thread.getName()))
			.collect(Collectors.toSet());
	}

	private static void assertReleased(DatabaseAccess access) {
		try (HikariDataSource dataSource = access.dataSource(1)) {
			assertThat(new JdbcTemplate(dataSource).queryForList("SELECT owner FROM holdfast_lock", String.class))
				.as("owners of the lock after the shutdown")
				.containsExactly((String) null);
		}
	}

	private static void awaitParked(CompletableFuture<Void> waiter) {
		Awaitility.await()
			.until(() -> Thread.getAllStackTraces()
				.values()
				.stream()
				.anyMatch((stack) -> Arrays.stream(stack)
					.anyMatch((frame) -> frame.getClassName().endsWith("KeyedPermits")
							&& frame.getMethodName().equals("await"))));
		assertThat(waiter).isNotDone();
	}

}
