package io.github.holdfast.core;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.transaction.annotation.Propagation;

import io.github.holdfast.FakeLockBackend;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What rules are told, and what they can prevent.
 */
class LockRuleTests {

	private final FakeLockBackend backend = new FakeLockBackend();

	private final List<LockListener> listeners = new ArrayList<>();

	private final List<String> told = new ArrayList<>();

	private final LockTemplate locks = new LockTemplate(() -> this.backend, () -> this.listeners);

	@AfterEach
	void close() {
		TemplateAccess.close(this.locks);
	}

	@Test
	void rulesAreToldInTheirOrderAndOfTheReleaseInTheOpposite() {
		this.listeners.addAll(List.of(new Recorder("1"), new Recorder("2")));
		this.locks.execute(List.of("B", "A"), () -> this.told.add("body"));
		assertThat(this.told).containsExactly("1 before [A, B]", "2 before [A, B]", "1 acquired [A, B]",
				"2 acquired [A, B]", "body", "2 ends [A, B]", "1 ends [A, B]");
	}

	@Test
	void ofAReentrantCallOnlyTheBeginningIsTold() {
		this.listeners.add(new Recorder("1"));
		this.locks.run("A", () -> this.locks.run("A", () -> this.told.add("body")));
		assertThat(this.told).containsExactly("1 before [A]", "1 acquired [A]", "1 reentry [A]", "body", "1 ends [A]");
	}

	@Test
	void attemptShowsOnlyTheKeysThatAreMissing() {
		this.listeners.add(new Recorder("1"));
		this.locks.run("A", () -> this.locks.execute(List.of("A", "B"), () -> null));
		assertThat(this.told).contains("1 before [A]", "1 before [B]");
	}

	@Test
	void attemptShowsNameAndPropagation() {
		List<LockRule.Attempt> attempts = new ArrayList<>();
		this.listeners.add(new LockRule() {

			@Override
			public void beforeAcquire(Attempt attempt) {
				attempts.add(attempt);
			}

		});
		this.locks.withName("report").withPropagation(Propagation.MANDATORY).run("A", () -> {
		});
		assertThat(attempts).containsExactly(new LockRule.Attempt("report", List.of("A"), LockRequest.Mode.EXCLUSIVE,
				Propagation.MANDATORY, attempts.get(0).transactionManager()));
	}

	@Test
	void ruleThatRefusesKeepsTheStoreFromBeingAsked() {
		IllegalStateException refusal = new IllegalStateException("refused");
		this.listeners.add(new LockRule() {

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
	void keysAreReleasedWhenARuleFailsAfterTheAcquisition() {
		IllegalStateException failure = new IllegalStateException("failed");
		this.listeners.add(new LockRule() {

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
	void rulePostponesTheReleaseAndTheKeyStaysReentrantUntilThen() {
		List<Runnable> releases = new ArrayList<>();
		this.listeners.add(new LockRule() {

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
	void heldLocksAreStackedInnermostFirst() {
		this.locks.withName("outer").run("A", () -> this.locks.withName("inner").run("B", () -> {
			assertThat(LockStack.current()).isNotNull().extracting(LockContext::name).isEqualTo("inner");
			assertThat(LockStack.all()).extracting(LockContext::name).containsExactly("inner", "outer");
		}));
		assertThat(LockStack.all()).isEmpty();
	}

	@Test
	void allRulesAreToldOfTheReleaseEvenIfOneRefuses() {
		IllegalStateException failure = new IllegalStateException("failed");
		this.listeners.add(new Recorder("1"));
		this.listeners.add(new LockRule() {

			@Override
			public void beforeRelease(HeldLock lock) {
				throw failure;
			}

		});
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> this.locks.run("A", () -> {
		})).isSameAs(failure);
		assertThat(this.told).endsWith("1 ends [A]");
		assertThat(this.backend.held()).isEmpty();
	}

	private final class Recorder implements LockRule {

		private final String id;

		private Recorder(String id) {
			this.id = id;
		}

		@Override
		public void beforeAcquire(Attempt attempt) {
			LockRuleTests.this.told.add(this.id + " before " + attempt.keys());
		}

		@Override
		public void acquired(HeldLock lock) {
			LockRuleTests.this.told.add(this.id + " acquired " + lock.keys());
		}

		@Override
		public void beforeReentry(Attempt attempt) {
			LockRuleTests.this.told.add(this.id + " reentry " + attempt.keys());
		}

		@Override
		public void beforeRelease(HeldLock lock) {
			assertThat(LockRuleTests.this.backend.held()).isNotEmpty();
			LockRuleTests.this.told.add(this.id + " ends " + lock.keys());
		}

	}

}
