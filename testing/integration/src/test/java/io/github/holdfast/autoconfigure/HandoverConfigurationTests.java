package io.github.holdfast.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.github.holdfast.LockContext;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.LockConfigurationException;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestBackend;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Handing over and the limits of the queue, as they are set in an application.
 */
class HandoverConfigurationTests {

	/** Tells them from those that other tests have left behind. */
	private static final String WAITER = "waiter of HandoverConfigurationTests";

	private static final Executor WAITERS = (waiter) -> new Thread(waiter, WAITER).start();

	private final ApplicationContextRunner application = LockedApplication.jdbc(TestDatabase.H2.newDatabase())
		.withPropertyValues("holdfast.handover.max-time=1m");

	@Test
	void lockIsHandedOverByDefault() {
		this.application
			.run((context) -> assertThat(turns(context.getBean(LockTemplate.class))).containsExactly(0, 1, 2));
	}

	@Test
	void lockIsNotHandedOverWithoutTurns() {
		this.application.withPropertyValues("holdfast.handover.max-turns=0")
			.run((context) -> assertThat(turns(context.getBean(LockTemplate.class))).containsExactly(0, 0, 0));
	}

	@Test
	void lockOfOneNameIsNotHandedOver() {
		this.application.withBean(NamedLocks.class)
			.withPropertyValues("holdfast.locks.stock.handover=false")
			.run((context) -> {
				NamedLocks locks = context.getBean(NamedLocks.class);
				assertThat(turns(locks.stock)).containsExactly(0, 0, 0);
				assertThat(turns(locks.other)).containsExactly(0, 1, 2);
			});
	}

	@ParameterizedTest
	@CsvSource({ "max-turns=256,from 0 to 255", "max-turns=-1,from 0 to 255", "max-waiters-per-key=0,at least 1",
			"max-waiters=0,at least 1" })
	void limitOutOfRangeFailsTheStart(String property, String message) {
		this.application.withPropertyValues("holdfast.handover." + property)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.satisfies((ex) -> assertThat(ex.getMessage()).contains(message)));
	}

	@Test
	void limitOutOfRangeIsExplained() {
		this.application.withPropertyValues("holdfast.handover.max-turns=256")
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining(LockConfigurationException.class.getName())
				.hasStackTraceContaining("'holdfast.handover.max-turns'"));
	}

	@ParameterizedTest
	@EnumSource(names = { "LOCAL", "H2" })
	void callThatFindsTheQueueFullFailsAtOnce(TestBackend backend) {
		backend.application().withPropertyValues("holdfast.handover.max-waiters-per-key=1").run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class).withWaitTime(Duration.ofMinutes(1));
			CompletableFuture<Void> waiting = new CompletableFuture<>();
			locks.run("full", () -> {
				CompletableFuture<Void> waiter = CompletableFuture.runAsync(() -> locks.run("full", () -> {
				}), WAITERS);
				awaitQueued();
				CompletableFuture<Void> refused = CompletableFuture.runAsync(() -> locks.run("full", () -> {
				}), WAITERS);
				assertThatExceptionOfType(CompletionException.class).isThrownBy(refused::join)
					.havingCause()
					.isInstanceOfSatisfying(LockNotAcquiredException.class,
							(ex) -> assertThat(ex.reason()).isEqualTo(LockNotAcquiredException.Reason.QUEUE_FULL));
				waiter.whenComplete((nothing, ex) -> waiting.complete(nothing));
			});
			assertThat(waiting).succeedsWithin(Duration.ofSeconds(30));
		});
	}

	/**
	 * The number of the turn of three threads, which wait for each other.
	 */
	private static List<Integer> turns(LockTemplate template) {
		LockTemplate locks = template.withWaitTime(Duration.ofMinutes(1));
		List<CompletableFuture<Integer>> waiters = new ArrayList<>();
		int first = locks.execute("turns", () -> {
			for (int i = 0; i < 2; i++) {
				int waiting = i + 1;
				waiters.add(CompletableFuture
					.supplyAsync(() -> locks.execute("turns", HandoverConfigurationTests::turn), WAITERS));
				await().until(() -> queued() == waiting);
			}
			return turn();
		});
		return Stream.concat(Stream.of(first), waiters.stream().map(CompletableFuture::join)).toList();
	}

	private static int turn() {
		return (int) (LockContext.current().orElseThrow().fencingToken() % 256);
	}

	private static void awaitQueued() {
		await().until(() -> queued() == 1);
	}

	private static long queued() {
		return Thread.getAllStackTraces()
			.entrySet()
			.stream()
			.filter((thread) -> thread.getKey().getName().equals(WAITER))
			.filter((thread) -> List.of(thread.getValue()).toString().contains("KeyedPermits.await"))
			.count();
	}

	private static final class NamedLocks {

		private final LockTemplate stock;

		private final LockTemplate other;

		NamedLocks(LockTemplate locks) {
			this.stock = locks.withName("stock");
			this.other = locks.withName("other");
		}

	}

}
