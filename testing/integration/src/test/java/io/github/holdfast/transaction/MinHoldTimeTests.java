package io.github.holdfast.transaction;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.LeaseCalls;
import io.github.holdfast.testsupport.TestBackend;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** A lock is kept for a while after its method. */
class MinHoldTimeTests {

	/** Otherwise it would be renewed for ever. */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void lockIsGivenBackAlthoughTheStoreFailedWhenItWasToBeKept(TestDatabase database) {
		AtomicBoolean fails = new AtomicBoolean(true);
		LeaseCalls calls = new LeaseCalls((call) -> {
			if (call.equals("renew") && fails.getAndSet(false)) {
				throw new IllegalStateException("the store failed");
			}
		});
		TestBackend.valueOf(database.name())
			.application()
			.withBean(LeaseCalls.class, () -> calls)
			.withPropertyValues("holdfast.lease-time=10s")
			.run((context) -> {
				LockTemplate locks = context.getBean(LockTemplate.class).withWaitTime(Duration.ofSeconds(60));
				locks.withMinHoldTime(Duration.ofSeconds(1)).run("kept", () -> {
				});
				assertThat(fails).isFalse();
				locks.run("kept", () -> {
				});
				assertThat(calls.owners()).hasSize(2);
			});
	}

	/**
	 * The answer would be that the lock is lost.
	 */
	@Test
	void lockIsNotReleasedBeforeTheStoreHasAnsweredThatItIsKept() {
		CountDownLatch released = new CountDownLatch(1);
		AtomicBoolean tooEarly = new AtomicBoolean();
		LeaseCalls calls = new LeaseCalls((call) -> {
			if (call.equals("release")) {
				released.countDown();
			}
			else if (call.equals("renew") && isOpen(released, 2)) {
				tooEarly.set(true);
			}
		});
		TestBackend.H2.application().withBean(LeaseCalls.class, () -> calls).run((context) -> {
			context.getBean(LockTemplate.class).withMinHoldTime(Duration.ofMillis(100)).run("kept", () -> {
			});
			assertThat(calls.count("renew")).isEqualTo(1);
			assertThat(tooEarly).isFalse();
			assertThat(isOpen(released, 60)).isTrue();
		});
	}

	private static boolean isOpen(CountDownLatch latch, int seconds) {
		try {
			return latch.await(seconds, TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void othersAreRenewedWhileTheReleaseBlocks() {
		AtomicBoolean releases = new AtomicBoolean();
		CountDownLatch renewed = new CountDownLatch(1);
		LeaseCalls calls = new LeaseCalls((call) -> {
			if (call.equals("release") && !releases.getAndSet(true)) {
				await().atMost(Duration.ofSeconds(60)).until(() -> renewed.getCount() == 0);
			}
			else if (call.equals("renew") && releases.get()) {
				renewed.countDown();
			}
		});
		TestBackend.H2.application()
			.withBean(LeaseCalls.class, () -> calls)
			.withPropertyValues("holdfast.lease-time=10s")
			.run((context) -> {
				LockTemplate locks = context.getBean(LockTemplate.class);
				locks.withMinHoldTime(Duration.ofSeconds(1)).run("kept", () -> {
				});
				locks.run("other", () -> assertThat(renewed.await(50, TimeUnit.SECONDS)).isTrue());
			});
	}

}
