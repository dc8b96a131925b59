package io.github.holdfast.autoconfigure;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockNotAcquiredException.Reason;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.LockManager;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.context.SmartLifecycle;
import org.springframework.context.support.GenericApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The order in which the use of locks ends. */
class LockShutdownTests {

	@Test
	void waitersFailAndHoldersFinish() {
		LockedApplication.local().withPropertyValues("holdfast.wait-time=60s").run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			LockManager manager = context.getBean(LockManager.class);
			CountDownLatch goOn = new CountDownLatch(1);
			CompletableFuture<Void> holder = CompletableFuture.runAsync(() -> locks.run("A",
					() -> Awaitility.await().atMost(1, TimeUnit.MINUTES).until(() -> goOn.getCount() == 0)));
			Awaitility.await().until(() -> !manager.isIdle());
			CompletableFuture<Void> waiter = CompletableFuture.runAsync(() -> locks.run("A", () -> {
			}));
			Awaitility.await().until(() -> manager.snapshots().size() == 2);
			CompletableFuture<Void> closed = CompletableFuture
				.runAsync(((GenericApplicationContext) context.getSourceApplicationContext())::close);
			assertThatExceptionOfType(CompletionException.class).isThrownBy(waiter::join)
				.havingCause()
				.isInstanceOfSatisfying(LockNotAcquiredException.class,
						(ex) -> assertThat(ex.reason()).isEqualTo(Reason.SHUTDOWN));
			assertThat(closed).isNotDone();
			goOn.countDown();
			holder.join();
			closed.get(30, TimeUnit.SECONDS);
		});
	}

	@Test
	void locksEndAfterTheWebServerAndAreNotPaused() {
		LockedApplication.local().run((context) -> {
			LockShutdown shutdown = context.getBean(LockShutdown.class);
			assertThat(shutdown.isRunning()).isTrue();
			assertThat(shutdown.isPauseable()).isFalse();
			assertThat(shutdown.getPhase()).isLessThan(SmartLifecycle.DEFAULT_PHASE - 2048);
		});
	}

	@Test
	void endOfAChildIsNoMatter() {
		LockedApplication.local().run((parent) -> {
			GenericApplicationContext child = new GenericApplicationContext();
			child.setParent(parent);
			child.refresh();
			child.close();
			parent.getBean(LockTemplate.class).acquire("A").close();
		});
	}

}
