package io.github.holdfast.autoconfigure;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextClosedEvent;

import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.TemplateAccess;
import io.github.holdfast.testsupport.EtcdServer;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedisStore;
import io.github.holdfast.testsupport.RequiresEtcd;
import io.github.holdfast.testsupport.TestBackend;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.testsupport.WaitingCall;
import io.github.holdfast.testsupport.ZooKeeperServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The context is paused, as Spring's test framework does it with those that it keeps, or
 * stopped, as for a checkpoint of the JVM, and goes on later.
 */
@Tag("F65")
@SuppressWarnings("try")
class PausedContextTests {

	private static final Consumer<ConfigurableApplicationContext> PAUSE_AND_RESTART = (context) -> {
		context.pause();
		context.restart();
	};

	private static final Consumer<ConfigurableApplicationContext> STOP_AND_START = (context) -> {
		context.stop();
		context.start();
	};

	private final ExecutorService threads = Executors.newCachedThreadPool();

	@AfterEach
	void endThreads() {
		this.threads.shutdown();
	}

	@ParameterizedTest
	@EnumSource(TestBackend.class)
	void callsWaitForTheirLocksAfterAPause(TestBackend backend) {
		assertWaitsAfter(PAUSE_AND_RESTART, backend.application());
	}

	@ParameterizedTest
	@EnumSource(TestBackend.class)
	void callsWaitForTheirLocksAfterAStop(TestBackend backend) {
		assertWaitsAfter(STOP_AND_START, backend.application());
	}

	@ParameterizedTest
	@EnumSource(RedisStore.class)
	void callsWaitForTheirLocksInRedisAfterAPauseAndAStop(RedisStore store) {
		try (RedisServer server = RedisServer.start()) {
			assertWaitsAfter(PAUSE_AND_RESTART.andThen(STOP_AND_START),
					store.application(TestDatabase.H2.newDatabase(), server.port()));
		}
	}

	@Test
	@RequiresEtcd
	void callsWaitForTheirLocksInEtcdAfterAPauseAndAStop() {
		try (EtcdServer server = EtcdServer.start()) {
			assertWaitsAfter(PAUSE_AND_RESTART.andThen(STOP_AND_START), LockedApplication.etcd(server.endpoint()));
		}
	}

	@Test
	void callsWaitForTheirLocksInZooKeeperAfterAPauseAndAStop() {
		try (ZooKeeperServer server = ZooKeeperServer.start()) {
			assertWaitsAfter(PAUSE_AND_RESTART.andThen(STOP_AND_START),
					LockedApplication.zooKeeper(TestDatabase.H2.newDatabase(), "127.0.0.1:" + server.port()));
		}
	}

	private void assertWaitsAfter(Consumer<ConfigurableApplicationContext> interruption,
			ApplicationContextRunner application) {
		application.withPropertyValues("holdfast.wait-time=60s").run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			assertWaits(locks);
			interruption.accept(context.getSourceApplicationContext());
			assertWaits(locks);
			interruption.accept(context.getSourceApplicationContext());
			assertWaits(locks);
		});
	}

	private void assertWaits(LockTemplate locks) throws Exception {
		CompletableFuture<Boolean> waiter;
		try (LockTemplate.Scope scope = locks.acquire("key")) {
			waiter = WaitingCall.start(locks, "key");
			assertThat(waiter).isNotDone();
		}
		assertThat(waiter.get(60, TimeUnit.SECONDS)).isTrue();
	}

	@Test
	void holdersAndWaitersGoOnDuringAPause() {
		LockedApplication.local().withPropertyValues("holdfast.wait-time=60s").run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			CompletableFuture<Boolean> waiter;
			try (LockTemplate.Scope scope = locks.acquire("key")) {
				waiter = WaitingCall.start(locks, "key");
				context.getSourceApplicationContext().pause();
				assertThat(waiter).isNotDone();
			}
			assertThat(waiter.get(60, TimeUnit.SECONDS)).isTrue();
			context.getSourceApplicationContext().restart();
		});
	}

	@ParameterizedTest
	@EnumSource(TestBackend.class)
	void stopWaitsForHoldersAndRefusesWaitersUntilTheStart(TestBackend backend) {
		backend.application().withPropertyValues("holdfast.wait-time=60s").run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			for (int i = 0; i < 2; i++) {
				assertStops(context.getSourceApplicationContext(), locks);
				context.getSourceApplicationContext().start();
				assertWaits(locks);
			}
		});
	}

	private void assertStops(ConfigurableApplicationContext context, LockTemplate locks) throws Exception {
		CountDownLatch goOn = new CountDownLatch(1);
		CountDownLatch held = new CountDownLatch(1);
		CompletableFuture<Void> holder = CompletableFuture.runAsync(() -> locks.run("key", () -> {
			held.countDown();
			await(goOn);
		}), this.threads);
		await(held);
		CompletableFuture<Boolean> waiter = WaitingCall.start(locks, "key");
		CompletableFuture<Void> stop = CompletableFuture.runAsync(context::stop, this.threads);
		assertShutdown(waiter);
		assertThat(TemplateAccess.drain(locks)).as("what the stop waits for").isNotDone();
		goOn.countDown();
		holder.get(60, TimeUnit.SECONDS);
		stop.get(60, TimeUnit.SECONDS);
		try (LockTemplate.Scope scope = locks.acquire("key")) {
			assertShutdown(CompletableFuture.supplyAsync(() -> locks.execute("key", () -> true), this.threads));
		}
	}

	@Test
	void startDoesNotUndoTheEnd() {
		LockedApplication.local().withPropertyValues("holdfast.wait-time=60s").run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			LockShutdown shutdown = context.getBean(LockShutdown.class);
			try (LockTemplate.Scope scope = locks.acquire("key")) {
				context.publishEvent(new ContextClosedEvent(context.getSourceApplicationContext()));
				shutdown.stop(() -> {
				});
				shutdown.start();
				assertShutdown(CompletableFuture.supplyAsync(() -> locks.execute("key", () -> true), this.threads));
			}
		});
	}

	private static void assertShutdown(CompletableFuture<?> call) {
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> call.get(30, TimeUnit.SECONDS))
			.havingCause()
			.isInstanceOfSatisfying(LockNotAcquiredException.class,
					(ex) -> assertThat(ex.reason()).isEqualTo(LockNotAcquiredException.Reason.SHUTDOWN));
	}

	private static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
