package io.github.holdfast.store;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link Releases}.
 */
@Timeout(60)
@Tag("F79")
@Tag("race")
class ReleasesTests {

	private static final Duration LONG = Duration.ofMinutes(10);

	private final Releases releases = new Releases();

	/** The threads of the attempts. */
	private final List<Thread> attempts = new CopyOnWriteArrayList<>();

	@AfterEach
	void close() {
		this.releases.close();
	}

	@Test
	void releaseThatSucceedsRunsOnceAndOnTheThreadOfItsCaller() {
		assertThat(run(LONG, 0).join()).isTrue();
		awaitAnotherRelease();
		assertThat(this.attempts).containsExactly(Thread.currentThread());
	}

	@Test
	void releaseThatFailedIsTriedAgainOnAnotherThreadUntilItSucceeds() {
		assertThatExceptionOfType(CompletionException.class).isThrownBy(run(LONG, 3)::join)
			.havingCause()
			.withMessage("attempt 1");
		await().until(() -> this.attempts.size() == 4);
		awaitAnotherRelease();
		assertThat(this.attempts).hasSize(4).startsWith(Thread.currentThread());
		assertThat(this.attempts.subList(1, 4)).doesNotContain(Thread.currentThread());
	}

	@Test
	void releaseThatThrowsIsTriedAgain() {
		CompletableFuture<Boolean> first = this.releases.run("key", Deadline.after(LONG), () -> {
			this.attempts.add(Thread.currentThread());
			if (this.attempts.size() == 1) {
				throw new IllegalStateException("closed");
			}
			return CompletableFuture.completedFuture(true);
		});
		assertThat(first).isCompletedExceptionally();
		await().until(() -> this.attempts.size() == 2);
	}

	@Test
	void interruptOfTheCallerDoesNotReachTheNextAttempt() {
		List<Boolean> interrupted = new CopyOnWriteArrayList<>();
		Thread.currentThread().interrupt();
		try {
			this.releases.run("key", Deadline.after(LONG), () -> {
				interrupted.add(Thread.currentThread().isInterrupted());
				return interrupted.get(interrupted.size() - 1)
						? CompletableFuture.failedFuture(new IllegalStateException())
						: CompletableFuture.completedFuture(true);
			});
		}
		finally {
			assertThat(Thread.interrupted()).isTrue();
		}
		await().untilAsserted(() -> assertThat(interrupted).containsExactly(true, false));
	}

	@Test
	void releaseIsNotTriedAgainWhenTheLockHasRunOut() {
		assertThat(run(Duration.ZERO, 1)).isCompletedExceptionally();
		awaitAnotherRelease();
		assertThat(this.attempts).hasSize(1);
	}

	@Test
	void releaseIsNotTriedAgainWhenTheApplicationHasEnded() {
		assertThat(run(LONG, Integer.MAX_VALUE)).isCompletedExceptionally();
		await().until(() -> this.attempts.size() > 2);
		this.releases.close();
		Thread caller = Thread.currentThread();
		await().until(() -> this.attempts.stream().noneMatch((thread) -> thread != caller && thread.isAlive()));
		int attempts = this.attempts.size();
		assertThat(run(LONG, Integer.MAX_VALUE)).isCompletedExceptionally();
		assertThat(this.attempts).hasSize(attempts + 1);
	}

	private CompletableFuture<Boolean> run(Duration left, int failures) {
		return this.releases.run("key", Deadline.after(left), () -> {
			this.attempts.add(Thread.currentThread());
			return (this.attempts.size() > failures) ? CompletableFuture.completedFuture(true)
					: CompletableFuture.failedFuture(new IllegalStateException("attempt " + this.attempts.size()));
		});
	}

	/**
	 * One that fails a few times takes longer than the next attempt of any before it.
	 */
	private void awaitAnotherRelease() {
		List<Boolean> others = new CopyOnWriteArrayList<>();
		this.releases.run("other", Deadline.after(LONG), () -> {
			others.add(true);
			return (others.size() == 5) ? CompletableFuture.completedFuture(true)
					: CompletableFuture.failedFuture(new IllegalStateException());
		});
		await().until(() -> others.size() == 5);
	}

}
