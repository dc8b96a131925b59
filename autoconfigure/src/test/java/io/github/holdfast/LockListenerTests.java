package io.github.holdfast;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.transaction.annotation.Propagation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What listeners are told, and what they can prevent.
 */
@ExtendWith(OutputCaptureExtension.class)
class LockListenerTests {

	private final FakeLockBackend backend = new FakeLockBackend();

	private final List<LockListener> listeners = new ArrayList<>();

	private final List<String> told = new ArrayList<>();

	private final LockTemplate locks = new LockTemplate(() -> this.backend, () -> this.listeners);

	@AfterEach
	void close() {
		this.locks.close();
	}

	@Test
	void listenersAreToldInTheirOrder() {
		this.listeners.addAll(List.of(new Recorder("1"), new Recorder("2")));
		this.locks.execute(List.of("B", "A"), () -> this.told.add("body"));
		assertThat(this.told).containsExactly("1 before [A, B]", "2 before [A, B]", "1 acquired [A, B]",
				"2 acquired [A, B]", "body", "1 released RELEASED", "2 released RELEASED");
	}

	@Test
	void reentrantCallIsNotTold() {
		this.listeners.add(new Recorder("1"));
		this.locks.run("A", () -> this.locks.run("A", () -> this.told.add("body")));
		assertThat(this.told).containsExactly("1 before [A]", "1 acquired [A]", "body", "1 released RELEASED");
	}

	@Test
	void attemptShowsOnlyTheKeysThatAreMissing() {
		this.listeners.add(new Recorder("1"));
		this.locks.run("A", () -> this.locks.execute(List.of("A", "B"), () -> null));
		assertThat(this.told).contains("1 before [A]", "1 before [B]");
	}

	@Test
	void attemptShowsNameAndPropagation() {
		List<LockListener.Attempt> attempts = new ArrayList<>();
		this.listeners.add(new LockListener() {

			@Override
			public void beforeAcquire(Attempt attempt) {
				attempts.add(attempt);
			}

		});
		this.locks.withName("report").withPropagation(Propagation.MANDATORY).run("A", () -> {
		});
		assertThat(attempts).containsExactly(new LockListener.Attempt("report", List.of("A"),
				LockRequest.Mode.EXCLUSIVE, Propagation.MANDATORY, null));
	}

	@Test
	void listenerThatRefusesKeepsTheStoreFromBeingAsked() {
		IllegalStateException refusal = new IllegalStateException("refused");
		this.listeners.add(new LockListener() {

			@Override
			public void beforeAcquire(Attempt attempt) {
				throw refusal;
			}

		});
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> this.locks.acquire("A"))
			.isSameAs(refusal);
		assertThat(this.backend.requests).isEmpty();
		assertThat(LockContext.current()).isEmpty();
	}

	@Test
	void keysAreReleasedWhenAListenerFailsAfterTheAcquisition() {
		IllegalStateException failure = new IllegalStateException("failed");
		this.listeners.add(new LockListener() {

			@Override
			public void acquired(HeldLock lock) {
				throw failure;
			}

		});
		assertThatExceptionOfType(IllegalStateException.class)
			.isThrownBy(() -> this.locks.execute(List.of("A", "B"), () -> this.told.add("body")))
			.isSameAs(failure);
		assertThat(this.told).isEmpty();
		assertThat(this.backend.held()).isEmpty();
		assertThat(LockContext.current()).isEmpty();
	}

	@Test
	void failureOfAListenerOnReleaseIsLoggedAndTheOthersAreTold(CapturedOutput output) {
		this.listeners.add(new LockListener() {

			@Override
			public void released(HeldLock lock, Outcome outcome) {
				throw new IllegalStateException("failed listener");
			}

		});
		this.listeners.add(new Recorder("2"));
		this.locks.withName("report").run("A", () -> this.told.add("body"));
		assertThat(this.told).endsWith("body", "2 released RELEASED");
		assertThat(output).contains("Lock 'report': a listener failed on release").contains("failed listener");
	}

	@Test
	void lockIsAlreadyFreeWhenListenersAreToldOfTheRelease() {
		this.listeners.add(new LockListener() {

			@Override
			public void released(HeldLock lock, Outcome outcome) {
				LockListenerTests.this.told.addAll(LockListenerTests.this.backend.held());
				assertThat(LockContext.current()).isEmpty();
			}

		});
		this.locks.run("A", () -> {
		});
		assertThat(this.told).isEmpty();
	}

	@Test
	void listenerPostponesTheReleaseAndTheKeyStaysReentrantUntilThen() {
		List<Runnable> releases = new ArrayList<>();
		this.listeners.add(new LockListener() {

			@Override
			public void acquired(HeldLock lock) {
				lock.releaseLater(releases::add);
			}

		});
		this.locks.run("A", () -> {
		});
		this.locks.run("A", () -> assertThat(this.backend.held()).containsExactly("lock:A"));
		assertThat(this.backend.requests).hasSize(1);
		assertThat(releases).hasSize(1);
		releases.get(0).run();
		assertThat(this.backend.held()).isEmpty();
		assertThat(LockContext.current()).isEmpty();
	}

	@Test
	void heldLocksAreLinkedFromInnerToOuter() {
		this.locks.withName("outer").run("A", () -> this.locks.withName("inner").run("B", () -> {
			LockListener.HeldLock inner = LockListener.HeldLock.current();
			assertThat(inner).isNotNull().extracting(LockContext::name).isEqualTo("inner");
			assertThat(inner.outer()).isNotNull().extracting(LockContext::name).isEqualTo("outer");
			assertThat(inner.outer().outer()).isNull();
		}));
	}

	private final class Recorder implements LockListener {

		private final String id;

		private Recorder(String id) {
			this.id = id;
		}

		@Override
		public void beforeAcquire(Attempt attempt) {
			LockListenerTests.this.told.add(this.id + " before " + attempt.keys());
		}

		@Override
		public void acquired(HeldLock lock) {
			LockListenerTests.this.told.add(this.id + " acquired " + lock.keys());
		}

		@Override
		public void released(HeldLock lock, Outcome outcome) {
			LockListenerTests.this.told.add(this.id + " released " + outcome);
		}

	}

}
