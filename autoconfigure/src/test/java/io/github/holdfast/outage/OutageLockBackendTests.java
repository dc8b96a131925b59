package io.github.holdfast.outage;

import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What makes a store count as down, and what does not.
 */
@Tag("F82")
class OutageLockBackendTests {

	private final Store store = new Store();

	private final OutageLockBackend backend = new OutageLockBackend(this.store);

	@AfterEach
	void close() {
		this.store.probes.release(1000);
		this.store.slow.release();
		this.backend.close();
	}

	@Test
	void failureOfOneKeyIsNoOutageWhileTheStoreAnswers() throws Exception {
		this.store.probes.release(1000);
		assertFails("broken", "of one key");
		await().until(() -> this.store.probed.get() == 1);
		for (int i = 0; i < 10; i++) {
			assertThat(this.backend.acquire(request("other"))).isNull();
			assertFails("broken", "of one key");
		}
		assertThat(this.store.probed.get()).as("not for each failure").isEqualTo(1);
	}

	@Test
	void callsGoOnUntilTheProbeHasFailed() throws Exception {
		this.store.down = true;
		assertFails("broken", "of one key");
		await().until(() -> this.store.probes.hasQueuedThreads());
		assertFails("broken", "of one key");
		this.store.probes.release();
		await().untilAsserted(() -> assertFails("broken", "has not answered for"));
	}

	@Test
	void answerSaysMoreThanAProbeThatFailsMeanwhile() throws Exception {
		this.store.down = true;
		assertFails("broken", "of one key");
		await().until(() -> this.store.probes.hasQueuedThreads());
		assertThat(this.backend.acquire(request("other"))).isNull();
		this.store.probes.release();
		await().until(() -> this.store.probed.get() == 2);
		assertFails("broken", "of one key");
		this.store.probes.release();
		await().untilAsserted(() -> assertFails("broken", "has not answered for"));
	}

	@Test
	void storeThatIsNotAskedForSeveralKeysHasNotAnswered() {
		this.store.down = true;
		assertFails("broken", "of one key");
		await().until(() -> this.store.probes.hasQueuedThreads());
		assertThat(this.backend.acquireAll(List.of(request("one"), request("other")))).isNull();
		this.store.probes.release();
		await().untilAsserted(() -> assertFails("broken", "has not answered for"));
	}

	@Test
	void answerToAnEarlierCallSaysMoreThanAProbeThatHasFailed() throws Exception {
		this.store.down = true;
		FutureTask<@Nullable LockLease> earlier = new FutureTask<>(() -> this.backend.acquire(request("slow")));
		new Thread(earlier).start();
		await().until(() -> this.store.slow.hasQueuedThreads());
		assertFails("broken", "of one key");
		this.store.probes.release();
		await().untilAsserted(() -> assertFails("other", "has not answered for"));
		this.store.slow.release();
		assertThat(earlier.get()).isNull();
		assertThat(this.backend.acquire(request("other"))).isNull();
	}

	@Test
	void oneThreadProbesWhateverFails() {
		for (int i = 0; i < 10; i++) {
			assertFails("broken", "of one key");
		}
		await().until(() -> this.store.probes.hasQueuedThreads());
		assertThat(this.store.probed.get()).isEqualTo(1);
	}

	@Test
	void callsComeBackWithTheFirstProbeThatSucceeds() throws Exception {
		this.store.down = true;
		this.store.probes.release(1000);
		assertFails("broken", "of one key");
		await().untilAsserted(() -> assertFails("other", "has not answered for"));
		int probed = this.store.probed.get();
		await().until(() -> this.store.probed.get() > probed + 1);
		this.store.down = false;
		await().ignoreException(LockBackendException.class).until(() -> this.backend.acquire(request("other")) == null);
	}

	@Test
	void interruptedCallSaysNothingAboutTheStore() {
		Thread.currentThread().interrupt();
		assertFails("broken", "of one key");
		assertThat(Thread.interrupted()).isTrue();
		assertThat(this.store.probed.get()).isZero();
		assertFails("broken", "of one key");
		await().until(() -> this.store.probed.get() == 1);
	}

	@Test
	void poolWithoutAConnectionSaysNothingAboutTheStore() {
		assertFails("pool", "no connection");
		assertThat(this.store.probed.get()).isZero();
		assertFails("broken", "of one key");
		await().until(() -> this.store.probed.get() == 1);
	}

	@Test
	void healthIsToldWhatTheLastProbeSaid() {
		this.store.down = true;
		this.store.probes.release(1000);
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.backend.probe("health"))
			.withMessageContaining("down");
		await().untilAsserted(() -> assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> this.backend.probe("health"))
			.withMessageContaining("has not answered for"));
	}

	private void assertFails(String key, String message) {
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.backend.acquire(request(key)))
			.withMessageContaining(message);
	}

	private static LockRequest request(String key) {
		return new LockRequest(key, "test", LockRequest.Mode.EXCLUSIVE, false, Duration.ZERO, Duration.ofSeconds(60),
				UUID.randomUUID().toString(), "test", 0);
	}

	/**
	 * A store whose locks are busy, but for keys that fail. Each probe needs a permit,
	 * and so does an answer for a key that is slow.
	 */
	private static final class Store implements LockBackend {

		private final Semaphore probes = new Semaphore(0);

		private final Semaphore slow = new Semaphore(0);

		private final AtomicInteger probed = new AtomicInteger();

		private volatile boolean down;

		@Override
		public @Nullable LockLease acquire(LockRequest request) {
			return switch (request.key()) {
				case "broken" -> throw new LockBackendException(request.key(), "a failure of one key", null);
				case "pool" -> throw new LockBackendException(request.key(), "no connection",
						new SQLTransientConnectionException("HikariPool-1 - Connection is not available, request timed "
								+ "out after 250ms (total=10, active=10, idle=0, waiting=3)"));
				case "slow" -> {
					this.slow.acquireUninterruptibly();
					yield null;
				}
				default -> null;
			};
		}

		@Override
		public @Nullable Status probe(String key) {
			this.probed.incrementAndGet();
			this.probes.acquireUninterruptibly();
			if (this.down) {
				throw new LockBackendException(key, "down", null);
			}
			return null;
		}

	}

}
