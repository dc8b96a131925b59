package io.github.holdfast;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.github.holdfast.LockListener.Outcome;
import io.github.holdfast.LockListener.Reason;
import io.github.holdfast.core.GuardedTransaction;
import io.github.holdfast.core.HeldLock;
import io.github.holdfast.core.LockRule;
import io.github.holdfast.core.LockStack;
import io.github.holdfast.core.TemplateAccess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What listeners are told, and that they change nothing.
 */
@ExtendWith(OutputCaptureExtension.class)
class LockListenerTests {

	private final FakeLockBackend backend = new FakeLockBackend();

	private final List<LockListener> listeners = new ArrayList<>();

	private final List<String> told = new CopyOnWriteArrayList<>();

	private final List<LockListener.Call> calls = new CopyOnWriteArrayList<>();

	private final LockTemplate locks = new LockTemplate(() -> this.backend, () -> this.listeners);

	@AfterEach
	void close() {
		TemplateAccess.close(this.locks);
	}

	@Test
	void listenersAreToldOfEachStepInTheirOrder() {
		this.listeners.addAll(List.of(new Recorder("1 "), new Recorder("2 ")));
		this.locks.execute(List.of("B", "A"), () -> this.told.add("body"));
		assertThat(this.told).containsExactly("1 attempted [A, B]", "2 attempted [A, B]", "1 acquired", "2 acquired",
				"body", "1 ended", "2 ended", "1 released RELEASED", "2 released RELEASED");
	}

	@Test
	void eventsOfACallHaveOneIdThatNoOtherCallHas() {
		record();
		this.locks.withName("report").run("A", () -> {
		});
		this.locks.run("A", () -> {
		});
		assertThat(this.calls).hasSize(8);
		assertThat(this.calls.subList(0, 4)).containsOnly(this.calls.get(0));
		assertThat(this.calls.subList(4, 8)).containsOnly(this.calls.get(4));
		assertThat(this.calls.get(0).id()).isNotEqualTo(this.calls.get(4).id());
		assertThat(this.calls.get(0).name()).isEqualTo("report");
		assertThat(this.calls.get(0).mode()).isEqualTo(LockRequest.Mode.EXCLUSIVE);
	}

	@Test
	void callThatNeedsNoNewKeyIsNotTold() {
		record();
		this.locks.run("A", () -> this.locks.run("A", () -> this.told.add("body")));
		assertThat(this.told).containsExactly("attempted [A]", "acquired", "body", "ended", "released RELEASED");
	}

	@Test
	void onlyKeysThatAreMissingAreTold() {
		record();
		this.locks.run("A", () -> this.locks.execute(List.of("A", "B"), () -> null));
		assertThat(this.told).contains("attempted [A]", "attempted [B]");
	}

	@Test
	void reasonIsToldWhenALockIsNotAcquired() {
		record();
		this.backend.grant = (request) -> request.key().equals("lock:A");
		assertRefused(LockNotAcquiredException.class);
		this.backend.grant = (request) -> {
			throw new InterruptedException();
		};
		assertRefused(LockNotAcquiredException.class);
		assertThat(Thread.interrupted()).isTrue();
		this.backend.grant = (request) -> {
			throw new RejectedExecutionException();
		};
		assertRefused(LockNotAcquiredException.class);
		this.backend.grant = (request) -> {
			throw new LockBackendException("A", "does not answer", null);
		};
		assertRefused(LockBackendException.class);
		this.backend.grant = (request) -> false;
		TemplateAccess.drain(this.locks);
		assertRefused(LockNotAcquiredException.class);
		assertThat(this.told).containsExactly("attempted [A, B]", "not acquired BUSY", "attempted [A, B]",
				"not acquired INTERRUPTED", "attempted [A, B]", "not acquired QUEUE_FULL", "attempted [A, B]",
				"store failed ACQUIRE", "not acquired STORE_ERROR", "attempted [A, B]", "not acquired SHUTDOWN");
	}

	private void assertRefused(Class<? extends Exception> type) {
		assertThatExceptionOfType(type).isThrownBy(() -> this.locks.acquire(List.of("A", "B")));
		assertThat(this.backend.held()).isEmpty();
	}

	@Test
	void lossIsToldAsSoonAsARenewalFindsItAndOnlyOnce() {
		record();
		this.backend.renewal = (lease) -> false;
		this.backend.release = (lease) -> false;
		assertThatExceptionOfType(LockOverlapException.class)
			.isThrownBy(() -> this.locks.withLeaseTime(Duration.ofSeconds(1))
				.run("A", () -> await().until(() -> this.told.contains("lost A"))));
		await().untilAsserted(() -> assertThat(this.told).containsExactly("attempted [A]", "acquired", "lost A",
				"ended", "released LOST"));
	}

	@Test
	void lossThatTheReleaseFindsIsTold() {
		record();
		this.backend.release = (lease) -> !lease.key().endsWith("B");
		assertThatExceptionOfType(LockOverlapException.class)
			.isThrownBy(() -> this.locks.execute(List.of("A", "B"), () -> null));
		assertThat(this.told).containsExactly("attempted [A, B]", "acquired", "ended", "lost B", "released LOST");
	}

	@Test
	void lossOfABorrowedKeyIsToldByTheCallThatAcquiredIt() {
		record();
		this.locks.run("A", () -> this.locks.execute(List.of("A", "B"), () -> {
			LockStack.all().get(0).lost("A");
			return null;
		}));
		assertThat(this.told).containsOnlyOnce("lost A");
		assertThat(this.calls.get(this.told.indexOf("lost A")).keys()).containsExactly("A");
	}

	@Test
	void releaseIsToldWhenTheStoreHasAnswered() {
		record();
		CompletableFuture<Boolean> answer = new CompletableFuture<>();
		this.backend.answer = answer;
		this.backend.capabilities = Set.of(LockBackend.Capability.RELEASE_NOT_AWAITED);
		GuardedTransaction.bodies(this.locks).run("A", GuardedTransaction::commit);
		assertThat(this.told).containsExactly("attempted [A]", "acquired", "ended");
		answer.complete(false);
		await().untilAsserted(() -> assertThat(this.told).containsExactly("attempted [A]", "acquired", "ended",
				"lost A", "released LOST"));
	}

	@Test
	void lockIsAlreadyFreeWhenListenersAreToldOfTheRelease() {
		List<String> held = new ArrayList<>();
		this.listeners.add(new LockListener() {

			@Override
			public void released(Call call, Outcome outcome, Duration holdTime) {
				held.addAll(LockListenerTests.this.backend.held());
				assertThat(LockContext.current()).isEmpty();
			}

		});
		this.locks.run("A", () -> {
		});
		assertThat(held).isEmpty();
	}

	@Test
	void callThatARuleRefusesBeforeIsNotTold() {
		record();
		this.listeners.add(new LockRule() {

			@Override
			public void beforeAcquire(Attempt attempt) {
				throw new IllegalStateException("refused");
			}

		});
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> this.locks.acquire("A"));
		assertThat(this.told).isEmpty();
	}

	@Test
	void callThatARuleRefusesAfterItsAcquisitionIsToldAsReleased() {
		record();
		this.listeners.add(new LockRule() {

			@Override
			public void acquired(HeldLock lock) {
				throw new IllegalStateException("refused");
			}

		});
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> this.locks.acquire("A"));
		assertThat(this.told).containsExactly("attempted [A]", "acquired", "ended", "released RELEASED");
	}

	@Test
	void failuresOfTheStoreAreTold() {
		record();
		this.backend.renewal = (lease) -> {
			throw new LockBackendException(lease.key(), "does not answer", null);
		};
		this.backend.release = (lease) -> {
			throw new LockBackendException(lease.key(), "does not answer", null);
		};
		// Asked for after a third of it, and not over before that is noticed on a busy
		// machine
		this.locks.withLeaseTime(Duration.ofSeconds(6))
			.run("A", () -> await().until(() -> this.told.contains("store failed RENEW")));
		await().untilAsserted(() -> assertThat(this.told.stream().distinct()).containsExactly("attempted [A]",
				"acquired", "store failed RENEW", "ended", "store failed RELEASE", "released FAILED"));
	}

	@Test
	void callTellsWhereItsLocksAreAndWhatItsChainHolds() {
		record();
		this.locks.run("A", () -> this.locks.withKeyPrefix("other:").run("B", () -> {
		}));
		LockListener.Call outer = this.calls.get(0);
		LockListener.Call inner = this.calls.get(2);
		assertThat(outer.keyPrefix()).isEqualTo("lock:");
		assertThat(outer.held()).isEmpty();
		assertThat(inner.keyPrefix()).isEqualTo("other:");
		assertThat(inner.held()).containsExactly("lock:A");
		assertThat(inner.backend()).isEqualTo("FakeLockBackend");
	}

	@Test
	void listenersSeeTheLockWhenItIsAcquired() {
		List<Long> tokens = new ArrayList<>();
		this.listeners.add(new LockListener() {

			@Override
			public void acquired(Call call, Duration waitTime) {
				tokens.add(LockContext.current().orElseThrow().token());
			}

		});
		this.locks.run("A", () -> tokens.add(LockContext.current().orElseThrow().token()));
		assertThat(tokens).hasSize(2).allMatch(tokens.get(0)::equals);
	}

	@Test
	void listenerThatFailsChangesNothingAndTheOthersAreTold(CapturedOutput output) {
		this.listeners.add(new FailingListener());
		record();
		String result = this.locks.withName("report").execute("A", () -> "done");
		assertThat(result).isEqualTo("done");
		this.backend.grant = (request) -> false;
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> this.locks.acquire("A"))
			.satisfies((ex) -> assertThat(ex.getSuppressed()).isEmpty());
		assertThat(this.told).containsExactly("attempted [A]", "acquired", "ended", "released RELEASED",
				"attempted [A]", "not acquired BUSY");
		assertThat(this.backend.held()).isEmpty();
		assertThat(output).contains("Lock 'report': a listener failed").contains("failed listener");
	}

	@Test
	void timesAreThoseOfTheWaitAndOfTheBody() {
		List<Duration> times = new ArrayList<>();
		this.listeners.add(new LockListener() {

			@Override
			public void acquired(Call call, Duration waitTime) {
				times.add(waitTime);
			}

			@Override
			public void released(Call call, Outcome outcome, Duration holdTime) {
				times.add(holdTime);
			}

		});
		long before = System.nanoTime();
		long[] begun = new long[2];
		this.locks.run("A", () -> {
			begun[0] = System.nanoTime();
			await().until(() -> System.nanoTime() - begun[0] > Duration.ofMillis(20).toNanos());
			begun[1] = System.nanoTime();
		});
		assertThat(times.get(0)).isBetween(Duration.ZERO, Duration.ofNanos(begun[0] - before));
		assertThat(times.get(1)).isBetween(Duration.ofNanos(begun[1] - begun[0]),
				Duration.ofNanos(System.nanoTime() - before));
	}

	private void record() {
		this.listeners.add(new Recorder(""));
	}

	private final class Recorder implements LockListener {

		private final String prefix;

		private Recorder(String prefix) {
			this.prefix = prefix;
		}

		private void tell(Call call, String event) {
			LockListenerTests.this.calls.add(call);
			LockListenerTests.this.told.add(this.prefix + event);
		}

		@Override
		public void attempted(Call call) {
			tell(call, "attempted " + call.keys());
		}

		@Override
		public void acquired(Call call, Duration waitTime) {
			tell(call, "acquired");
		}

		@Override
		public void notAcquired(Call call, Reason reason, Duration waitTime, Throwable cause) {
			assertThat(cause).isNotNull();
			tell(call, "not acquired " + reason);
		}

		@Override
		public void storeFailed(Call call, Operation operation, Throwable failure) {
			tell(call, "store failed " + operation);
		}

		@Override
		public void ended(Call call) {
			tell(call, "ended");
		}

		@Override
		public void lost(Call call, String key, Duration holdTime) {
			tell(call, "lost " + key);
		}

		@Override
		public void released(Call call, Outcome outcome, Duration holdTime) {
			tell(call, "released " + outcome);
		}

	}

	private static final class FailingListener implements LockListener {

		@Override
		public void attempted(Call call) {
			throw new IllegalStateException("failed listener");
		}

		@Override
		public void acquired(Call call, Duration waitTime) {
			throw new IllegalStateException("failed listener");
		}

		@Override
		public void notAcquired(Call call, Reason reason, Duration waitTime, Throwable cause) {
			throw new StackOverflowError("failed listener");
		}

		@Override
		public void released(Call call, Outcome outcome, Duration holdTime) {
			FailingListener.<RuntimeException>sneakyThrow(new IOException("failed listener"));
		}

		/**
		 * As methods of other languages do, which know no checked exceptions.
		 */
		@SuppressWarnings("unchecked")
		private static <E extends Exception> void sneakyThrow(Exception ex) throws E {
			throw (E) ex;
		}

	}

}
