package io.github.holdfast.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.logging.LogLevel;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.TemplateAccess;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What the log tells of locks if it is asked for, in an application.
 */
@ExtendWith(OutputCaptureExtension.class)
class LockLogTests {

	private static final AutoConfigurations OBSERVATION = AutoConfigurations.of(LockObservationAutoConfiguration.class);

	private static final String OPPOSITE = "Locks are taken in opposite orders";

	private final ApplicationContextRunner application = LockedApplication.local().withConfiguration(OBSERVATION);

	private final ApplicationContextRunner node = LockedApplication.jdbc(TestDatabase.H2.newDatabase())
		.withConfiguration(OBSERVATION);

	// Times that are too long

	@Test
	void lockThatIsHeldTooLongIsToldWithTheStackOfItsThread(CapturedOutput output) {
		this.application.withPropertyValues("holdfast.warn-after.held=50ms").run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class).withName("stock");
			locks.run("A", () -> await().until(() -> output.getOut().contains("Lock 'stock' ['A'] has been held for")));
			assertThat(output).contains("which is" + System.lineSeparator() + "\tat ")
				.contains("LockLogTests.lambda$lockThatIsHeldTooLongIsToldWithTheStackOfItsThread$");
		});
	}

	/**
	 * Drivers, proxies and recursions may be above it; what called it is of no interest.
	 */
	@Test
	void stackGoesDownToTheCodeUnderTheLock(CapturedOutput output) {
		this.application.withPropertyValues("holdfast.warn-after.held=50ms").run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class).withName("outer");
			locks.run("A", () -> underTheLock(() -> locks.withName("inner").run("B", () -> deep(100, output))));
			assertThat(output).contains("LockLogTests.underTheLock(")
				.doesNotContain("LockLogTests.stackGoesDownToTheCodeUnderTheLock(")
				.doesNotContain("org.junit.platform");
		});
	}

	private static void underTheLock(Runnable code) {
		code.run();
	}

	private static void deep(int frames, CapturedOutput output) {
		if (frames > 0) {
			deep(frames - 1, output);
		}
		else {
			await().until(() -> output.getOut().contains("Lock 'outer' ['A'] has been held for")
					&& output.getOut().contains("Lock 'inner' ['B'] has been held for"));
		}
	}

	@Test
	void lockThatIsWaitedForTooLongIsToldWithTheStackOfItsHolder(CapturedOutput output) {
		this.application.withPropertyValues("holdfast.warn-after.waited=50ms").run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class)
				.withName("stock")
				.withWaitTime(Duration.ofMinutes(1));
			CompletableFuture<Void> waiter = locks.execute("A", () -> {
				CompletableFuture<Void> waiting = CompletableFuture.runAsync(() -> locks.run("A", () -> {
				}));
				awaitInHolder(output);
				return waiting;
			});
			waiter.join();
			assertThat(output).containsPattern("Lock 'stock' \\['A'] has been waited for for \\d+ ms by thread '")
				.containsPattern("'A' has been held for \\d+ ms by thread '" + Thread.currentThread().getName()
						+ "' of this JVM, which is")
				.contains("LockLogTests.awaitInHolder");
		});
	}

	private static void awaitInHolder(CapturedOutput output) {
		await().until(() -> output.getOut().contains("has been waited for for"));
	}

	@Test
	void holderOfAnotherNodeIsToldAsTheStoreTellsIt(CapturedOutput output) {
		this.node.run((other) -> this.node.withPropertyValues("holdfast.warn-after.waited=50ms").run((context) -> {
			CompletableFuture<Void> waiter = other.getBean(LockTemplate.class).execute("A", () -> {
				CompletableFuture<Void> waiting = CompletableFuture.runAsync(
						() -> context.getBean(LockTemplate.class).withWaitTime(Duration.ofMinutes(1)).run("A", () -> {
						}));
				await().until(() -> output.getOut().contains("has been waited for for"));
				return waiting;
			});
			waiter.join();
			assertThat(output).contains("'A' is held by " + ProcessHandle.current().pid() + "@");
		}));
	}

	@Test
	void nobodyLooksUnlessATimeIsSetAndLookingEndsWithTheApplication() {
		this.application.withPropertyValues("holdfast.warn-after.held=1m")
			.run((context) -> await().until(() -> threadsThatLook() == 1));
		await().until(() -> threadsThatLook() == 0);
		this.application.run((context) -> {
			context.getBean(LockTemplate.class).run("A", () -> {
			});
			assertThat(threadsThatLook()).isZero();
		});
	}

	// Busy locks

	@Test
	void busyLockIsToldWithItsHolderOnceInAMinuteForEachName(CapturedOutput output) {
		this.node.run((other) -> this.node.run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class).withWaitTime(Duration.ZERO);
			other.getBean(LockTemplate.class).run("A", () -> {
				for (LockTemplate each : List.of(locks.withName("stock"), locks.withName("stock"),
						locks.withName("order"), TemplateAccess.withSkips(locks.withName("job"), true))) {
					CompletableFuture
						.runAsync(() -> assertThatExceptionOfType(LockNotAcquiredException.class)
							.isThrownBy(() -> each.acquire("A")))
						.join();
				}
			});
			assertThat(output.getOut().lines().filter((line) -> line.contains("was not acquired")).toList())
				.allSatisfy((line) -> assertThat(line).contains(" INFO ",
						"Lock 'A' was not acquired within 0 ms: held by " + ProcessHandle.current().pid() + "@"))
				.satisfiesExactly((line) -> assertThat(line).contains("Others of lock 'stock' are not logged"),
						(line) -> assertThat(line).contains("Others of lock 'order' are not logged"));
		}));
	}

	private static long threadsThatLook() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().startsWith("holdfast-watch"))
			.count();
	}

	// Opposite orders

	@Test
	void oppositeOrdersAreToldWithBothPlaces(CapturedOutput output) {
		this.application.run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			for (int i = 0; i < 3; i++) {
				confirm(locks);
				assertThat(output.getOut().contains(OPPOSITE)).isEqualTo(i > 0);
				cancel(locks);
			}
			assertThat(output.getOut().split(OPPOSITE)).hasSize(2);
			assertThat(output).contains("'lock:stock' and then 'lock:order' by 'stock' then 'order' at ")
				.contains("LockLogTests.lambda$cancel$")
				.contains("the other way round by 'order' then 'stock' at ")
				.contains("LockLogTests.lambda$confirm$");
		});
	}

	private static void confirm(LockTemplate locks) {
		locks.withName("order").run("order", () -> locks.withName("stock").run("stock", () -> {
		}));
	}

	private static void cancel(LockTemplate locks) {
		locks.withName("stock").run("stock", () -> locks.withName("order").run("order", () -> {
		}));
	}

	@Test
	void severalKeysOfOneCallAreInOrder(CapturedOutput output) {
		this.application.run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			locks.execute(List.of("A", "B"), () -> null);
			locks.execute(List.of("B", "A"), () -> null);
			assertThat(output).doesNotContain(OPPOSITE);
		});
	}

	@Test
	void oppositeOrdersAreNotToldIfTheLoggerIsSwitchedOff(CapturedOutput output) {
		LoggingSystem logging = LoggingSystem.get(getClass().getClassLoader());
		logging.setLogLevel("io.github.holdfast.observation.LockOrder", LogLevel.ERROR);
		try {
			this.application.run((context) -> {
				confirm(context.getBean(LockTemplate.class));
				cancel(context.getBean(LockTemplate.class));
				assertThat(output).doesNotContain(OPPOSITE);
			});
		}
		finally {
			logging.setLogLevel("io.github.holdfast.observation.LockOrder", null);
		}
	}

	/**
	 * The place on the other node is told by the name of the lock: that of the method,
	 * unless it has another one.
	 */
	@Test
	void oppositeOrderOnAnotherNodeIsToldWithBothPlacesWhenItsLockIsBusy(CapturedOutput output) {
		this.node.run((other) -> this.node.run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class).withWaitTime(Duration.ZERO);
			confirm(locks);
			assertThat(output).doesNotContain(OPPOSITE);
			for (int i = 0; i < 2; i++) {
				LockTemplate elsewhere = other.getBean(LockTemplate.class);
				elsewhere.run("stock",
						() -> elsewhere.withName("OrderService.cancel")
							.run("order",
									() -> CompletableFuture
										.runAsync(() -> assertThatExceptionOfType(LockNotAcquiredException.class)
											.isThrownBy(() -> locks.acquire("order")))
										.join()));
			}
			assertThat(output.getOut().split(OPPOSITE)).hasSize(2);
			assertThat(output)
				.containsPattern("'lock:stock' and then 'lock:order' by a holder elsewhere \\(held by "
						+ ProcessHandle.current().pid() + "@.*, holding 'lock:stock' in 'OrderService.cancel'")
				.contains("the other way round by 'order' then 'stock' at ")
				.contains("LockLogTests.lambda$confirm$");
		}));
	}

}
