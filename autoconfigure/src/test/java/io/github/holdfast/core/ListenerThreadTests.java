package io.github.holdfast.core;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.holdfast.FakeLockBackend;
import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Listeners may take their time: on the thread of the call, or on one that nothing else
 * waits for.
 */
class ListenerThreadTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final Duration LEASE = Duration.ofSeconds(1);

	private final FakeLockBackend backend = new FakeLockBackend();

	private final Recorder recorder = new Recorder();

	private final LockTemplate locks = new LockTemplate(() -> this.backend, () -> List.of(this.recorder))
		.withLeaseTime(LEASE);

	@AfterEach
	void close() {
		this.recorder.free.countDown();
		TemplateAccess.close(this.locks);
	}

	/**
	 * As many as there are threads of the renewal, and more.
	 */
	@Test
	@Tag("F92")
	void otherLocksAreRenewedWhileListenersAreToldOfLosses() {
		List<String> lost = List.of("lost 1", "lost 2", "lost 3", "lost 4", "lost 5");
		AtomicInteger renewals = new AtomicInteger();
		this.backend.renewal = (lease) -> {
			if (lease.key().contains("lost")) {
				return false;
			}
			renewals.incrementAndGet();
			return true;
		};
		this.locks.run("fine", () -> {
			LockTemplate.Scope losing = this.locks.acquire(lost);
			await().atMost(PATIENCE).until(() -> this.recorder.asked.get() > 0);
			int before = renewals.get();
			await().atMost(PATIENCE).untilAsserted(() -> assertThat(renewals).hasValueGreaterThan(before + 5));
			this.recorder.free.countDown();
			losing.close();
			await().atMost(PATIENCE).until(() -> this.recorder.told.size() == lost.size() + 1);
		});
		assertThat(this.recorder.threads).allMatch(Recorder::mayWait);
	}

	@Test
	void failureOfARenewalIsToldWhereNothingWaitsForIt() {
		this.recorder.free.countDown();
		this.backend.renewal = (lease) -> {
			throw new LockBackendException(lease.key(), "does not answer", null);
		};
		this.locks.run("A", () -> await().atMost(PATIENCE).until(() -> this.recorder.told.contains("failed RENEW")));
		assertThat(this.recorder.threads).allMatch(Recorder::mayWait);
	}

	@Test
	void threadOfTheStoreDoesNotWaitForListeners() throws InterruptedException {
		CompletableFuture<Boolean> answer = new CompletableFuture<>();
		this.backend.answer = answer;
		this.backend.capabilities = Set.of(LockBackend.Capability.RELEASE_NOT_AWAITED);
		GuardedTransaction.bodies(this.locks).run("A", GuardedTransaction::commit);
		Thread client = new Thread(() -> answer.completeExceptionally(new LockBackendException("A", "is down", null)),
				"client");
		client.start();
		client.join(PATIENCE.toMillis());
		assertThat(client.isAlive()).as("it waits for a listener").isFalse();
		this.recorder.free.countDown();
		await().atMost(PATIENCE)
			.untilAsserted(() -> assertThat(this.recorder.told).containsExactly("failed RELEASE", "released FAILED"));
		assertThat(this.recorder.threads).allMatch(Recorder::mayWait);
	}

	/**
	 * Meters and warnings, so that most applications wake no thread for each release.
	 */
	@Test
	void listenersThatDoNotBlockAreToldByTheThreadOfTheStore() throws InterruptedException {
		List<String> threads = new CopyOnWriteArrayList<>();
		LockListener listener = new LockListener.NonBlocking() {

			@Override
			public void released(Call call, Outcome outcome, Duration holdTime) {
				threads.add(Thread.currentThread().getName());
			}

		};
		LockTemplate told = new LockTemplate(() -> this.backend, () -> List.of(listener));
		CompletableFuture<Boolean> answer = new CompletableFuture<>();
		this.backend.answer = answer;
		this.backend.capabilities = Set.of(LockBackend.Capability.RELEASE_NOT_AWAITED);
		GuardedTransaction.bodies(told).run("A", GuardedTransaction::commit);
		Thread client = new Thread(() -> answer.complete(true), "client");
		client.start();
		client.join(PATIENCE.toMillis());
		TemplateAccess.close(told);
		assertThat(threads).containsExactly("client");
	}

	@Test
	void releaseIsToldAfterALossThatIsStillToBeTold() {
		this.backend.renewal = (lease) -> !lease.key().endsWith("A");
		this.locks.run("A", () -> await().atMost(PATIENCE).until(() -> this.recorder.asked.get() == 1));
		assertThat(this.recorder.told).isEmpty();
		this.recorder.free.countDown();
		await().atMost(PATIENCE)
			.untilAsserted(() -> assertThat(this.recorder.told).containsExactly("lost A", "released RELEASED"));
	}

	/**
	 * Otherwise they would get behind for ever.
	 */
	@Test
	void callsTellByThemselvesWhenListenersDoNotKeepUp() {
		this.backend.capabilities = Set.of(LockBackend.Capability.RELEASE_NOT_AWAITED);
		LockTemplate bodies = GuardedTransaction.bodies(this.locks);
		CompletableFuture<Boolean> answer = new CompletableFuture<>();
		this.backend.answer = answer;
		for (int i = 0; i < 2000; i++) {
			bodies.run("A", GuardedTransaction::commit);
		}
		answer.complete(true);
		this.backend.answer = null;
		Thread call = new Thread(() -> bodies.run("A", GuardedTransaction::commit), "call");
		call.start();
		await().atMost(PATIENCE).until(() -> this.recorder.threads.contains("call"));
		this.recorder.free.countDown();
		await().atMost(PATIENCE).until(() -> this.recorder.told.size() == 2001);
	}

	private static final class Recorder implements LockListener {

		private final List<String> told = new CopyOnWriteArrayList<>();

		private final List<String> threads = new CopyOnWriteArrayList<>();

		private final AtomicInteger asked = new AtomicInteger();

		private final CountDownLatch free = new CountDownLatch(1);

		private static boolean mayWait(String thread) {
			return thread.startsWith("holdfast-listener-") || thread.equals("main") || thread.equals("call");
		}

		private void tell(String event) {
			this.threads.add(Thread.currentThread().getName());
			this.asked.incrementAndGet();
			try {
				this.free.await();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
			this.told.add(event);
		}

		@Override
		public void storeFailed(Call call, Operation operation, Throwable failure) {
			tell("failed " + operation);
		}

		@Override
		public void lost(Call call, String key, Duration holdTime) {
			tell("lost " + key);
		}

		@Override
		public void released(Call call, Outcome outcome, Duration holdTime) {
			tell("released " + outcome);
		}

	}

}
