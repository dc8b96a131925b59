package io.github.holdfast.store.local;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.github.holdfast.LockBackend.Lease;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockMode;
import io.github.holdfast.store.Requests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** Shared locks and forced releases in one JVM. */
@Timeout(120)
class SharedLocalLockTests {

	private final LocalLockBackend backend = new LocalLockBackend();

	private final String key = "shared:" + UUID.randomUUID();

	@Test
	void readersShareAndWaitBehindAWriter() throws Exception {
		Lease early = acquired(LockMode.SHARED);
		Lease other = acquired(LockMode.SHARED);
		assertThat(acquire(LockMode.EXCLUSIVE, Requests.NO_WAIT)).isNull();
		Waiter writer = new Waiter(LockMode.EXCLUSIVE);
		assertThat(acquire(LockMode.SHARED, Requests.NO_WAIT)).isNull();
		Waiter late = new Waiter(LockMode.SHARED);
		Waiter alsoLate = new Waiter(LockMode.SHARED);
		assertThat(released(early)).isTrue();
		assertThat(released(early)).isFalse();
		assertThat(writer.task).isNotDone();
		assertThat(released(other)).isTrue();
		Lease written = writer.task.get();
		assertThat(written.epoch()).isGreaterThan(other.epoch());
		assertThat(late.task).isNotDone();
		assertThat(released(written)).isTrue();
		assertThat(released(late.task.get())).isTrue();
		assertThat(released(alsoLate.task.get())).isTrue();
		assertThat(this.backend.holder(this.key)).isNull();
	}

	@Test
	void interruptedWriterLetsReadersIn() throws Exception {
		Lease early = acquired(LockMode.SHARED);
		Waiter writer = new Waiter(LockMode.EXCLUSIVE);
		Waiter late = new Waiter(LockMode.SHARED);
		writer.thread.interrupt();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(writer.task::get)
			.withCauseInstanceOf(InterruptedException.class);
		assertThat(released(late.task.get())).isTrue();
		assertThat(released(early)).isTrue();
	}

	@Test
	void forcedReleaseTakesTheLockFromAllHolders() throws Exception {
		assertThat(this.backend.forceRelease(this.key)).isFalse();
		Lease reader = acquired(LockMode.SHARED);
		Lease other = acquired(LockMode.SHARED);
		assertThat(this.backend.holder(this.key)).extracting(LockHolder::description, LockHolder::epoch)
			.containsExactly("held by test", reader.epoch());
		Waiter writer = new Waiter(LockMode.EXCLUSIVE);
		assertThat(this.backend.forceRelease(this.key)).isTrue();
		assertThat(reader.isAlive()).isFalse();
		assertThat(other.isAlive()).isFalse();
		assertThat(released(other)).isFalse();
		Lease written = writer.task.get();
		assertThat(written.isAlive()).isTrue();
		assertThat(written.expires()).isFalse();
		assertThat(released(written)).isTrue();
	}

	private @Nullable Lease acquire(LockMode mode, Duration waitTime) throws InterruptedException {
		return this.backend.acquire(
				(mode == LockMode.SHARED) ? Requests.shared(this.key, waitTime) : Requests.request(this.key, waitTime));
	}

	private Lease acquired(LockMode mode) throws InterruptedException {
		Lease lease = acquire(mode, Requests.NO_WAIT);
		assertThat(lease).isNotNull();
		return lease;
	}

	private static boolean released(Lease lease) {
		return lease.release().toCompletableFuture().join();
	}

	private final class Waiter {

		private final FutureTask<Lease> task;

		private final Thread thread;

		Waiter(LockMode mode) {
			this.task = new FutureTask<>(() -> acquire(mode, Requests.LONG));
			this.thread = new Thread(this.task);
			this.thread.setDaemon(true);
			this.thread.start();
			await().until(() -> this.thread.getState() == Thread.State.TIMED_WAITING);
		}

	}

}
