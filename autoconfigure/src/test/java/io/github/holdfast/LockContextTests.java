package io.github.holdfast;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.github.holdfast.core.TemplateAccess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * What code sees of the lock it runs under, and how scopes end.
 */
class LockContextTests {

	private final FakeLockBackend backend = new FakeLockBackend();

	private final LockTemplate locks = new LockTemplate(() -> this.backend, List::of);

	@AfterEach
	void close() {
		TemplateAccess.close(this.locks);
	}

	@Test
	void contextIsEmptyOutsideOfALock() {
		assertThat(LockContext.current()).isEmpty();
	}

	@Test
	void heldKeyIsAsserted() {
		this.locks.run("A", () -> this.locks.execute(List.of("B", "C"), () -> {
			LockContext.assertHeld("A");
			LockContext.assertHeld("C");
			assertThatIllegalStateException().isThrownBy(() -> LockContext.assertHeld("a"))
				.withMessageContainingAll("Lock 'a' is not held here", "'A'", "'B'", "'C'", "on 'this'");
			return null;
		}));
		assertThatIllegalStateException().isThrownBy(() -> LockContext.assertHeld("A"))
			.withMessageContaining("this thread holds no lock");
	}

	@Test
	void lostKeyIsToldByTheAssertion() {
		this.locks.run("A", () -> {
			this.backend.leases.get(0).released.set(true);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> LockContext.assertHeld("A"))
				.withMessageContaining("Lock 'A'");
		});
	}

	@Test
	void contextIsEmptyAfterTheLock() {
		this.locks.run("A", () -> assertThat(LockContext.current()).isPresent());
		assertThat(LockContext.current()).isEmpty();
	}

	@Test
	void contextShowsTheInnermostLock() {
		this.locks.withName("outer").run("A", () -> {
			this.locks.withName("inner").run("B", () -> assertThat(current().name()).isEqualTo("inner"));
			assertThat(current().name()).isEqualTo("outer");
		});
	}

	@Test
	void reentrantCallHasAContextOfItsOwnWithTheLeaseOfTheOuterOne() {
		this.locks.withName("outer").run("A", () -> {
			List<LockLease> leases = current().leases();
			this.locks.withName("inner").run("A", () -> {
				assertThat(current().name()).isEqualTo("inner");
				assertThat(current().leases()).isEqualTo(leases);
			});
		});
	}

	@Test
	void contextShowsTheKeysSortedAndWithoutPrefix() {
		this.locks.execute(List.of("B", "A"), () -> assertThat(current().keys()).containsExactly("A", "B"));
	}

	@Test
	void tokenIsTheOneOfTheOnlyKey() {
		this.locks.run("A", () -> assertThat(current().token()).isEqualTo(101L << 8));
	}

	@Test
	void tokenRisesWithEachHolder() {
		long first = this.locks.execute("A", () -> current().token());
		long second = this.locks.execute("A", () -> current().token());
		assertThat(second).isGreaterThan(first);
	}

	@Test
	void tokenNeedsAKeyWhereThereAreSeveral() {
		this.locks.withName("transfer")
			.execute(List.of("A", "B"),
					() -> assertThatIllegalStateException().isThrownBy(() -> current().token())
						.withMessageContaining("'transfer' has 2 keys")
						.withMessageContaining("['A', 'B']"));
	}

	@Test
	void tokenOfEachKeyIsTold() {
		this.locks.execute(List.of("A", "B"), () -> {
			assertThat(current().token("A")).isEqualTo(101L << 8);
			return assertThat(current().token("B")).isEqualTo(102L << 8);
		});
	}

	@Test
	void tokenOfAnUnknownKeyIsRefused() {
		this.locks.run("A",
				() -> assertThatIllegalArgumentException().isThrownBy(() -> current().token("B"))
					.withMessageContaining("does not hold 'B'")
					.withMessageContaining("['A']"));
	}

	@Test
	void refusedTokenDoesNotForgeALogLine() {
		this.locks.run("A\nforged", () -> assertThatIllegalArgumentException().isThrownBy(() -> current().token("B\n"))
			.satisfies((ex) -> assertThat(ex.getMessage()).doesNotContain("\n")));
	}

	@Test
	void remainingIsTheShortestTimeOfAllKeys() {
		this.locks.withLeaseTime(Duration.ofMinutes(1))
			.run("A",
					() -> this.locks.withLeaseTime(Duration.ofHours(1))
						.execute(List.of("A", "B"),
								() -> assertThat(current().remaining()).isLessThanOrEqualTo(Duration.ofMinutes(1))));
	}

	@Test
	void remainingIsUnknownForALockThatDoesNotRunOut() {
		this.backend.expiring = false;
		this.locks.run("A", () -> assertThat(current().remaining()).isNull());
	}

	@Test
	void contextIsNoLongerValidAfterTheLock() {
		LockContext lock = this.locks.execute("A", () -> {
			assertThat(current().isValid()).isTrue();
			return current();
		});
		assertThat(lock.isValid()).isFalse();
	}

	@Test
	void contextIsNotInheritedByOtherThreads() throws Exception {
		boolean seen = this.locks.execute("A",
				() -> CompletableFuture.supplyAsync(() -> LockContext.current().isPresent()).get());
		boolean inherited = this.locks.execute("A", () -> {
			CompletableFuture<Boolean> child = new CompletableFuture<>();
			new Thread(() -> child.complete(LockContext.current().isPresent())).start();
			return child.get();
		});
		assertThat(List.of(seen, inherited)).containsOnly(false);
	}

	@Test
	void scopeIsReleasedOnceWhenItIsClosedTwice() {
		LockTemplate.Scope scope = this.locks.acquire("A");
		scope.close();
		scope.close();
		assertThat(this.backend.calls).containsExactly("acquire lock:A", "release lock:A");
	}

	@Test
	void scopeIsReleasedByAnotherThread() throws Exception {
		LockTemplate.Scope scope = this.locks.acquire("A");
		CompletableFuture.runAsync(scope::close).get();
		assertThat(this.backend.held()).isEmpty();
		assertThat(LockContext.current()).isEmpty();
	}

	@Test
	void keyIsAcquiredAgainAfterAnotherThreadReleasedIt() throws Exception {
		LockTemplate.Scope scope = this.locks.acquire("A");
		CompletableFuture.runAsync(scope::close).get();
		this.locks.run("A", () -> assertThat(this.backend.held()).containsExactly("lock:A"));
		assertThat(this.backend.requests).hasSize(2);
	}

	@Test
	void innerScopeStaysTheCurrentOneWhenTheOuterOneIsClosedFirst() {
		LockTemplate.Scope outer = this.locks.withName("outer").acquire("A");
		LockTemplate.Scope inner = this.locks.withName("inner").acquire("B");
		outer.close();
		assertThat(current().name()).isEqualTo("inner");
		assertThat(this.backend.held()).containsExactly("lock:B");
		inner.close();
		assertThat(LockContext.current()).isEmpty();
	}

	@Test
	void keyOfAnOuterScopeThatWasClosedFirstIsAcquiredAgain() {
		LockTemplate.Scope outer = this.locks.acquire("A");
		LockTemplate.Scope inner = this.locks.acquire("B");
		outer.close();
		this.locks.run("A", () -> assertThat(this.backend.held()).containsExactlyInAnyOrder("lock:A", "lock:B"));
		inner.close();
		assertThat(this.backend.held()).isEmpty();
	}

	@Test
	void tryWithResourcesHoldsTheLock() {
		try (LockTemplate.Scope scope = this.locks.acquire("A")) {
			assertThat(scope).isNotNull();
			assertThat(this.backend.held()).containsExactly("lock:A");
		}
		assertThat(this.backend.held()).isEmpty();
	}

	private static LockContext current() {
		return LockContext.current().orElseThrow();
	}

}
