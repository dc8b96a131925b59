package io.github.holdfast;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.github.holdfast.core.TemplateAccess;
import io.github.holdfast.store.HandoverLockBackend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

/**
 * What a node tells of the locks that it holds and waits for.
 */
class LockUseTests {

	private final FakeLockBackend store = new FakeLockBackend();

	private final LockTemplate locks = new LockTemplate(() -> new HandoverLockBackend(this.store), List::of)
		.withName("stock")
		.withWaitTime(Duration.ofSeconds(60));

	@AfterEach
	void close() {
		TemplateAccess.close(this.locks);
	}

	@Test
	void lockIsToldWhileItIsHeld() {
		assertThat(this.locks.uses()).isEmpty();
		this.locks.run("A", () -> {
			assertThat(this.locks.uses()).singleElement().satisfies((use) -> {
				assertThat(use.name()).isEqualTo("stock");
				assertThat(use.key()).isEqualTo("A");
				assertThat(use.id()).isEqualTo("lock:A");
				assertThat(use.mode()).isEqualTo(LockRequest.Mode.EXCLUSIVE);
				assertThat(use.thread()).isEqualTo(Thread.currentThread().getName());
				assertThat(use.holdTime()).isNotNull();
				assertThat(use.waitTime()).isGreaterThanOrEqualTo(Duration.ZERO);
				assertThat(use.lease()).isNotNull();
				assertThat(use.lease().isValid()).isTrue();
				assertThat(use.lease().token()).isEqualTo(LockContext.current().orElseThrow().token());
			});
			this.locks.run("A", () -> assertThat(this.locks.uses()).as("a re-entry is no use of its own").hasSize(1));
			this.locks.run("B",
					() -> assertThat(this.locks.uses()).extracting(LockUse::key).containsExactlyInAnyOrder("A", "B"));
		});
		await().untilAsserted(() -> assertThat(this.locks.uses()).isEmpty());
	}

	@Test
	void waiterIsToldWithTheKeysThatItHasAlready() throws Exception {
		Thread[] waiter = new Thread[1];
		this.locks.run("B", () -> {
			waiter[0] = new Thread(() -> this.locks.execute(List.of("A", "B"), () -> "done"), "waiter");
			waiter[0].start();
			await().untilAsserted(() -> assertThat(this.locks.uses()).filteredOn((use) -> use.thread().equals("waiter"))
				.satisfiesExactlyInAnyOrder((held) -> {
					assertThat(held.key()).isEqualTo("A");
					assertThat(held.lease()).isNotNull();
					assertThat(held.holdTime()).isNull();
				}, (awaited) -> {
					assertThat(awaited.key()).isEqualTo("B");
					assertThat(awaited.lease()).isNull();
					assertThat(awaited.holdTime()).isNull();
				}));
		});
		waiter[0].join();
		await().untilAsserted(() -> assertThat(this.locks.uses()).isEmpty());
	}

	@Test
	void callThatFailsIsForgotten() {
		assertThat(catchThrowable(() -> this.locks.run("A", () -> {
			throw new IllegalStateException();
		}))).isInstanceOf(IllegalStateException.class);
		this.locks.run("A", () -> {
			Thread other = new Thread(() -> catchThrowable(() -> this.locks.withWaitTime(Duration.ZERO).run("A", () -> {
			})));
			other.start();
			try {
				other.join();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
			assertThat(this.locks.uses()).hasSize(1);
		});
		await().untilAsserted(() -> assertThat(this.locks.uses()).isEmpty());
	}

}
