package io.github.holdfast;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.LoggerFactory;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.transaction.TransactionException;

import io.github.holdfast.core.TemplateAccess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * What the template asks of a backend, and what it tells its caller.
 */
@ExtendWith(OutputCaptureExtension.class)
class LockTemplateTests {

	private final FakeLockBackend backend = new FakeLockBackend();

	private final LockTemplate locks = new LockTemplate(() -> this.backend, List::of);

	@AfterEach
	void close() {
		TemplateAccess.close(this.locks);
	}

	// Re-entrancy

	@Test
	void failureOfTheStoreHasTheKeyOfTheCaller() {
		Throwable cause = new IllegalStateException("down");
		this.backend.grant = (request) -> {
			throw new LockBackendException(request.key(), "could not be acquired, the store failed", cause);
		};
		for (String key : List.of("A", "lock:A")) {
			assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.locks.run(key, () -> {
			}))
				.withMessage("Lock '" + key + "': could not be acquired, the store failed")
				.withCause(cause)
				.satisfies((ex) -> assertThat(ex.key()).isEqualTo(key))
				.satisfies((ex) -> assertThat(ex.getStackTrace()[0].getClassName()).startsWith(getClass().getName()));
		}
	}

	@Test
	void oneLineAtDebugTellsTheStoryOfACall(CapturedOutput output) {
		Logger logger = (Logger) LoggerFactory.getLogger(LockTemplate.class);
		Level level = logger.getLevel();
		logger.setLevel(Level.DEBUG);
		try {
			this.locks.withName("stock").run("A", () -> {
			});
			this.backend.grant = (request) -> false;
			assertThatExceptionOfType(LockNotAcquiredException.class)
				.isThrownBy(() -> this.locks.withName("stock").withWaitTime(Duration.ZERO).run("B", () -> {
				}));
		}
		finally {
			logger.setLevel(level);
		}
		assertThat(output.getOut().lines().filter((line) -> line.contains("LockTemplate"))).hasSize(2)
			.satisfiesExactly(
					(line) -> assertThat(line)
						.containsPattern("Call \\d+ of lock 'stock' waited for \\['A'] for \\d+ ms, "
								+ "held for \\d+ ms with token \\d+: RELEASED"),
					(line) -> assertThat(line)
						.containsPattern("Call \\d+ of lock 'stock' waited for \\['B'] for \\d+ ms: BUSY"));
	}

	@Test
	void nestedCallDoesNotAcquireAKeyThatIsHeld() {
		this.locks.run("A", () -> this.locks.run("A", () -> assertThat(this.backend.held()).containsExactly("lock:A")));
		assertThat(this.backend.calls).containsExactly("acquire lock:A", "release lock:A");
	}

	@Test
	void keyIsHeldUntilTheOutermostCallEnds() {
		this.locks.run("A", () -> {
			this.locks.run("A", () -> {
			});
			assertThat(this.backend.held()).containsExactly("lock:A");
		});
		assertThat(this.backend.held()).isEmpty();
	}

	@Test
	void nestedCallAcquiresOnlyTheKeysThatAreMissing() {
		this.locks.execute(List.of("A", "B"), () -> {
			this.locks.execute(List.of("C", "B"), () -> null);
			return null;
		});
		assertThat(this.backend.calls).containsExactly("acquire lock:A", "acquire lock:B", "acquire lock:C",
				"release lock:C", "release lock:B", "release lock:A");
	}

	@Test
	void anotherThreadDoesNotShareAHeldKey() throws Exception {
		this.locks.run("A", () -> CompletableFuture.runAsync(() -> this.locks.run("A", () -> {
		})).get());
		assertThat(this.backend.requests).hasSize(2);
	}

	@Test
	void keyWithAnotherPrefixIsAnotherLock() {
		this.locks.run("A", () -> this.locks.withKeyPrefix("other:").run("A", () -> {
		}));
		assertThat(this.backend.requests).extracting(LockRequest::key).containsExactly("lock:A", "other:A");
	}

	@Test
	void keyOfAnotherBackendIsAnotherLock() {
		FakeLockBackend otherBackend = new FakeLockBackend();
		LockTemplate others = new LockTemplate(() -> otherBackend, List::of);
		try {
			this.locks.run("A", () -> others.run("A", () -> {
			}));
		}
		finally {
			TemplateAccess.close(others);
		}
		assertThat(otherBackend.calls).containsExactly("acquire lock:A", "release lock:A");
	}

	@Test
	void eachAcquisitionHasAnOwnerOfItsOwn() {
		this.locks.run("A", () -> {
		});
		this.locks.execute(List.of("A", "B"), () -> null);
		assertThat(this.backend.requests).extracting(LockRequest::owner).hasSize(3).doesNotHaveDuplicates();
	}

	@Test
	void keyIsAcquiredAgainAfterAReleaseThatFailed() {
		this.backend.release = (lease) -> {
			throw new LockBackendException(lease.key(), "store is down", null);
		};
		this.locks.run("A", () -> {
		});
		this.locks.run("A", () -> {
		});
		assertThat(this.backend.requests).hasSize(2);
	}

	// Several keys

	@Test
	void keysAreAcquiredInSortedOrderAndEachOnlyOnce() {
		this.locks.execute(List.of("B", "C", "A", "B"), () -> null);
		assertThat(this.backend.requests).extracting(LockRequest::key).containsExactly("lock:A", "lock:B", "lock:C");
	}

	@Test
	void keysAreReleasedInReverseOrder() {
		this.locks.execute(List.of("A", "B", "C"), () -> null);
		assertThat(this.backend.calls).endsWith("release lock:C", "release lock:B", "release lock:A");
	}

	@Test
	void otherKeysAreReleasedWhenOneReleaseFails() {
		this.backend.release = (lease) -> {
			if (lease.key().equals("lock:B")) {
				throw new LockBackendException(lease.key(), "store is down", null);
			}
			return true;
		};
		this.locks.execute(List.of("A", "B", "C"), () -> null);
		assertThat(this.backend.calls).endsWith("release lock:C", "release lock:B", "release lock:A");
	}

	@Test
	void noKeyStaysHeldWhenOneIsBusy() {
		this.backend.grant = (request) -> !request.key().equals("lock:C");
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> this.locks.acquire(List.of("A", "B", "C")))
			.satisfies((ex) -> assertThat(ex.key()).isEqualTo("C"));
		assertThat(this.backend.calls).endsWith("release lock:B", "release lock:A");
		assertThat(this.backend.held()).isEmpty();
	}

	@Test
	void noKeyStaysHeldWhenTheStoreFails() {
		this.backend.grant = (request) -> {
			if (request.key().equals("lock:B")) {
				throw new LockBackendException("B", "store is down", null);
			}
			return true;
		};
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.locks.acquire(List.of("A", "B")));
		assertThat(this.backend.held()).isEmpty();
	}

	@Test
	void outerKeysStayHeldWhenANestedKeyIsBusy() {
		this.backend.grant = (request) -> !request.key().equals("lock:C");
		this.locks.run("A", () -> {
			assertThatExceptionOfType(LockNotAcquiredException.class)
				.isThrownBy(() -> this.locks.acquire(List.of("A", "B", "C")));
			assertThat(this.backend.held()).containsExactly("lock:A");
		});
	}

	@Test
	void failureToGiveBackIsSuppressedInTheReason() {
		this.backend.grant = (request) -> request.key().equals("lock:A");
		LockBackendException failure = new LockBackendException("A", "store is down", null);
		this.backend.release = (lease) -> {
			throw failure;
		};
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> this.locks.acquire(List.of("A", "B")))
			.satisfies((ex) -> assertThat(ex.getSuppressed()).containsExactly(failure));
	}

	@Test
	void waitTimeIsSharedByAllKeys() {
		this.backend.grant = (request) -> {
			LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2));
			return true;
		};
		this.locks.withWaitTime(Duration.ofMinutes(1)).execute(List.of("A", "B", "C"), () -> null);
		List<Duration> waits = this.backend.requests.stream().map(LockRequest::waitTime).toList();
		assertThat(waits.get(0)).isLessThanOrEqualTo(Duration.ofMinutes(1));
		assertThat(waits.get(1)).isLessThan(waits.get(0));
		assertThat(waits.get(2)).isLessThan(waits.get(1));
	}

	@Test
	void keyIsTriedOnceWhenTheWaitTimeIsUsedUp() {
		this.backend.grant = (request) -> {
			TimeUnit.MILLISECONDS.sleep(2);
			return true;
		};
		this.locks.withWaitTime(Duration.ofNanos(1)).execute(List.of("A", "B"), () -> null);
		assertThat(this.backend.requests.get(1).waitTime()).isZero();
	}

	@Test
	void noLockIsTakenForNoKeys() {
		assertThat(this.locks.execute(List.of(), () -> "done")).isEqualTo("done");
		assertThat(this.backend.requests).isEmpty();
	}

	// Outcomes

	@Test
	void resultOfTheBodyIsReturned() {
		String result = this.locks.execute("A", () -> "done");
		assertThat(result).isEqualTo("done");
	}

	@Test
	void busyLockIsReportedWithKeyReasonWaitTimeAndHolder() {
		this.backend.grant = (request) -> false;
		this.backend.holder = "held by 42@node-2 http-3";
		List<String> ran = new ArrayList<>();
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> this.locks.withWaitTime(Duration.ofMillis(300)).run("A", () -> ran.add("body")))
			.satisfies((ex) -> {
				assertThat(ex.key()).isEqualTo("A");
				assertThat(ex.reason()).isEqualTo(LockNotAcquiredException.Reason.BUSY);
				assertThat(ex.waitTime()).isEqualTo(Duration.ofMillis(300));
				assertThat(ex.holder()).isEqualTo("held by 42@node-2 http-3");
			})
			.withMessage("Lock 'A' was not acquired within 300 ms: held by 42@node-2 http-3");
		assertThat(ran).isEmpty();
	}

	@Test
	void lockIsBusyAlsoIfTheStoreDoesNotTellWhoHoldsIt() {
		this.backend.grant = (request) -> false;
		this.backend.lookUpFails = true;
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> this.locks.acquire("A"))
			.satisfies((ex) -> {
				assertThat(ex.reason()).isEqualTo(LockNotAcquiredException.Reason.BUSY);
				assertThat(ex.holder()).isNull();
			});
	}

	@Test
	void busyLockOfAnUnknownHolderIsReportedWithoutHolder() {
		this.backend.grant = (request) -> false;
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> this.locks.acquire("A"))
			.withMessage("Lock 'A' was not acquired within 5000 ms");
	}

	@Test
	void interruptIsReportedAndStaysSet() {
		AtomicReference<LockNotAcquiredException> failure = new AtomicReference<>();
		this.backend.grant = (request) -> {
			if (request.key().equals("lock:B")) {
				throw new InterruptedException();
			}
			return true;
		};
		try {
			this.locks.acquire(List.of("A", "B"));
		}
		catch (LockNotAcquiredException ex) {
			failure.set(ex);
		}
		assertThat(Thread.interrupted()).isTrue();
		assertThat(failure.get().reason()).isEqualTo(LockNotAcquiredException.Reason.INTERRUPTED);
		assertThat(failure.get()).hasCauseInstanceOf(InterruptedException.class);
		assertThat(this.backend.held()).isEmpty();
	}

	@Test
	void interruptDuringTheBodyIsPutAsideForTheRelease() {
		AtomicReference<Boolean> duringRelease = new AtomicReference<>();
		this.backend.release = (lease) -> {
			duringRelease.set(Thread.currentThread().isInterrupted());
			return true;
		};
		this.locks.run("A", () -> Thread.currentThread().interrupt());
		assertThat(Thread.interrupted()).isTrue();
		assertThat(duringRelease).hasValue(false);
	}

	@Test
	void failureOfTheStoreIsNotReportedAsBusy() {
		LockBackendException failure = new LockBackendException("A", "store is down", null);
		this.backend.grant = (request) -> {
			throw failure;
		};
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.locks.acquire("A"))
			.isSameAs(failure)
			.isNotInstanceOf(ConcurrencyFailureException.class)
			.isNotInstanceOf(TransactionException.class);
	}

	@Test
	void exceptionOfTheBodyReachesTheCallerWhenTheReleaseFails(CapturedOutput output) {
		this.backend.release = (lease) -> {
			throw new LockBackendException("A", "store is down", null);
		};
		IOException failure = new IOException("body");
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> this.locks.run("A", () -> {
			throw failure;
		})).isSameAs(failure);
		assertThat(output).contains("Lock 'A' could not be released, it runs out by itself").contains("store is down");
	}

	@Test
	void resultOfTheBodyIsReturnedWhenTheReleaseFails() {
		this.backend.release = (lease) -> {
			throw new LockBackendException("A", "store is down", null);
		};
		String result = this.locks.execute("A", () -> "done");
		assertThat(result).isEqualTo("done");
	}

	@Test
	void keyIsReleasedOnceWhenTheBodyThrowsAnError() {
		StackOverflowError failure = new StackOverflowError();
		assertThatExceptionOfType(StackOverflowError.class).isThrownBy(() -> this.locks.run("A", () -> {
			throw failure;
		})).isSameAs(failure);
		assertThat(this.backend.calls).containsExactly("acquire lock:A", "release lock:A");
	}

	@Test
	void holderNamesProcessAndThread() {
		this.locks.run("A", () -> {
		});
		assertThat(this.backend.requests.get(0).holder()).startsWith(ProcessHandle.current().pid() + "@")
			.endsWith(" " + Thread.currentThread().getName());
	}

	@Test
	void requestCarriesTheSettings() {
		this.locks.withName("report").withLeaseTime(Duration.ofSeconds(7)).withWaitTime(Duration.ZERO).run("A", () -> {
		});
		assertThat(this.backend.requests.get(0)).satisfies((request) -> {
			assertThat(request.name()).isEqualTo("report");
			assertThat(request.leaseTime()).isEqualTo(Duration.ofSeconds(7));
			assertThat(request.waitTime()).isZero();
		});
	}

	// Keys and settings that are refused

	@Test
	void blankKeyIsRefusedBeforeAnythingIsAcquired() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.locks.acquire(List.of("A", " ")))
			.withMessageContaining("must not be blank");
		assertThat(this.backend.requests).isEmpty();
	}

	@Test
	void halfOfASurrogatePairIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.locks.acquire("A\ud800"))
			.withMessageContaining("surrogate");
		assertThat(this.backend.calls).isEmpty();
	}

	@Test
	void controlCharactersOfAKeyAreEscapedInMessages() {
		this.backend.grant = (request) -> false;
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> this.locks.acquire("A\r\n2026-01-01 INFO forged\u2028\u202e"))
			.satisfies((ex) -> assertThat(ex.key()).contains("\r\n"))
			.withMessageContaining("'A\\u000d\\u000a2026-01-01 INFO forged\\u2028\\u202e'");
	}

	@Test
	void longKeyIsCutInMessages() {
		this.backend.grant = (request) -> false;
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> this.locks.acquire("x".repeat(5000)))
			.withMessageContaining("'" + "x".repeat(200) + "…'");
	}

	@Test
	void modeThatTheBackendDoesNotHaveIsRefused() {
		LockTemplate shared = this.locks.withName("report").withMode(LockRequest.Mode.SHARED);
		assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(() -> shared.acquire("A"))
			.withMessage("Lock 'report' asks for [SHARED], but backend 'fake' offers []");
		assertThat(this.backend.requests).isEmpty();
	}

	@Test
	void fairOrderThatTheBackendDoesNotHaveIsRefused() {
		assertThatExceptionOfType(UnsupportedOperationException.class)
			.isThrownBy(() -> this.locks.withFair(true).checkSupported())
			.withMessageContaining("[FAIR]");
	}

	@Test
	void modeThatTheBackendHasIsAskedFor() {
		this.backend.capabilities = Set.of(LockBackend.Capability.SHARED, LockBackend.Capability.FAIR);
		this.locks.withMode(LockRequest.Mode.SHARED).withFair(true).run("A", () -> {
		});
		assertThat(this.backend.requests.get(0)).satisfies((request) -> {
			assertThat(request.mode()).isEqualTo(LockRequest.Mode.SHARED);
			assertThat(request.fair()).isTrue();
		});
	}

	@Test
	void settingsThatCannotWorkAreRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.locks.withWaitTime(Duration.ofMillis(-1)))
			.withMessageContaining("Wait time");
		assertThatIllegalArgumentException().isThrownBy(() -> this.locks.withLeaseTime(Duration.ofNanos(1)))
			.withMessageContaining("Lease time");
		assertThatIllegalArgumentException().isThrownBy(() -> this.locks.withMaxHoldTime(Duration.ZERO))
			.withMessageContaining("Maximum hold time");
		assertThatIllegalArgumentException().isThrownBy(() -> this.locks.withName(" "))
			.withMessageContaining("Lock name");
	}

	// Unlocked and closed

	@Test
	void unlockedTemplateRunsTheBodyWithoutALock() {
		String seen = LockTemplate.unlocked().execute("A", () -> LockContext.current().isPresent() ? "locked" : "free");
		assertThat(seen).isEqualTo("free");
	}

	@Test
	void unlockedTemplateRefusesBlankKeysToo() {
		assertThatIllegalArgumentException().isThrownBy(() -> LockTemplate.unlocked().acquire(" "));
	}

	@Test
	void unlockedTemplateSupportsEverything() {
		String result = LockTemplate.unlocked()
			.withMode(LockRequest.Mode.OPTIMISTIC)
			.withFair(true)
			.execute("A", () -> "done");
		assertThat(result).isEqualTo("done");
	}

	@Test
	void callAfterShutdownIsRefused() {
		TemplateAccess.close(this.locks);
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> this.locks.acquire("A"))
			.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(LockNotAcquiredException.Reason.SHUTDOWN));
		assertThat(this.backend.requests).isEmpty();
	}

	@Test
	void callThatWaitsDuringShutdownIsRefusedAndHoldsNothing() throws Exception {
		CountDownLatch waiting = new CountDownLatch(1);
		CountDownLatch granted = new CountDownLatch(1);
		this.backend.grant = (request) -> {
			waiting.countDown();
			return granted.await(10, TimeUnit.SECONDS);
		};
		CompletableFuture<Void> call = CompletableFuture.runAsync(() -> this.locks.run("A", () -> {
		}));
		waiting.await();
		TemplateAccess.close(this.locks);
		granted.countDown();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(call::get)
			.havingCause()
			.isInstanceOfSatisfying(LockNotAcquiredException.class,
					(ex) -> assertThat(ex.reason()).isEqualTo(LockNotAcquiredException.Reason.SHUTDOWN));
		assertThat(this.backend.held()).isEmpty();
	}

	/**
	 * As a request that the web server still lets finish.
	 */
	@Test
	void lockThatWasTakenDuringShutdownIsWaitedFor() {
		assertThat(TemplateAccess.drain(this.locks).toCompletableFuture()).isDone();
		LockTemplate.Scope scope = this.locks.acquire("A");
		CompletableFuture<Void> drained = TemplateAccess.drain(this.locks).toCompletableFuture();
		assertThat(drained).isNotDone();
		scope.close();
		assertThat(drained).isDone();
	}

	@Test
	void interruptOfTheCallerIsKeptDuringShutdown() {
		TemplateAccess.drain(this.locks);
		this.backend.grant = (request) -> {
			throw new InterruptedException();
		};
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> this.locks.acquire("A"))
			.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(LockNotAcquiredException.Reason.SHUTDOWN));
		assertThat(Thread.interrupted()).isTrue();
	}

	@Test
	void backendIsNotAskedForBeforeTheFirstLock() {
		List<String> created = new ArrayList<>();
		LockTemplate lazy = new LockTemplate(() -> {
			created.add("backend");
			return this.backend;
		}, List::of);
		try {
			LockTemplate copy = lazy.withName("report");
			assertThat(created).isEmpty();
			copy.run("A", () -> {
			});
			lazy.run("B", () -> {
			});
		}
		finally {
			TemplateAccess.close(lazy);
		}
		assertThat(created).containsExactly("backend");
	}

}
