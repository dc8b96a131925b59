package io.github.holdfast.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.github.holdfast.LockContext;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Handing over, as it is set in an application. */
class HandoverConfigurationTests {

	/** Tells them from those that other tests have left behind. */
	private static final String WAITER = "waiter of HandoverConfigurationTests";

	private static final Executor WAITERS = (waiter) -> new Thread(waiter, WAITER).start();

	private final ApplicationContextRunner application = LockedApplication.jdbc(TestDatabase.H2.newDatabase());

	@Test
	void lockIsHandedOver() {
		this.application.withPropertyValues("holdfast.handover-limit=1m")
			.run((context) -> assertThat(turns(context.getBean(LockTemplate.class))).containsExactly(0, 1, 2));
	}

	@Test
	void lockIsNotHandedOverWithoutTime() {
		this.application.withPropertyValues("holdfast.handover-limit=0s")
			.run((context) -> assertThat(turns(context.getBean(LockTemplate.class))).containsExactly(0, 0, 0));
	}

	/** The number of the turn of three threads, which wait for each other. */
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

	private static long queued() {
		return Thread.getAllStackTraces()
			.entrySet()
			.stream()
			.filter((thread) -> thread.getKey().getName().equals(WAITER))
			.filter((thread) -> List.of(thread.getValue()).toString().contains("LocalQueue"))
			.count();
	}

}
