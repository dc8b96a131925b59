package io.github.holdfast.test;

import java.util.List;
import java.util.stream.Stream;

import io.github.holdfast.test.LockRecorder.Hold;
import io.github.holdfast.test.LockRecorder.State;
import org.assertj.core.api.AbstractAssert;

/**
 * Assertions on what happened to locks since the test method began, or since
 * {@link TestLocks#reset()}. Locks that the test has made busy do not count.
 */
public final class TestLocksAssert extends AbstractAssert<TestLocksAssert, TestLocks> {

	TestLocksAssert(TestLocks actual) {
		super(actual, TestLocksAssert.class);
	}

	/**
	 * A transaction was committed while its thread held the lock, from just before the
	 * commit until just after it.
	 * @param key the key
	 * @return this
	 */
	public TestLocksAssert wasHeldDuringCommit(String key) {
		return check(key, holds(key).anyMatch((hold) -> hold.commits > 0), "to be held during a commit");
	}

	/**
	 * Transactions were committed, and their threads held the lock during each commit.
	 * @param key the key
	 * @return this
	 */
	public TestLocksAssert wasHeldDuringEachCommit(String key) {
		return check(key, commits() > 0 && holds(key).mapToInt((hold) -> hold.commits).sum() == commits(),
				"to be held during each commit");
	}

	/**
	 * Each time that the lock was held, it was held during a commit and released after
	 * it.
	 * @param key the key
	 * @return this
	 */
	public TestLocksAssert wasReleasedAfterCommit(String key) {
		return check(key,
				holds(key).count() > 0
						&& holds(key).allMatch((hold) -> hold.commits > 0 && hold.state == State.RELEASED),
				"to be released after a commit");
	}

	/**
	 * The lock was never acquired.
	 * @param key the key
	 * @return this
	 */
	public TestLocksAssert wasNotHeld(String key) {
		return check(key, holds(key).count() == 0, "never to be held");
	}

	/**
	 * A call gave up because another holder kept the lock for the whole wait time.
	 * @param key the key
	 * @return this
	 */
	public TestLocksAssert wasBusy(String key) {
		return check(key, this.actual.recorder.busy.contains(key), "to be busy for the whole wait time");
	}

	/**
	 * The lock was taken away from its holder.
	 * @param key the key
	 * @return this
	 */
	public TestLocksAssert wasLost(String key) {
		return check(key, holds(key).anyMatch((hold) -> hold.state == State.LOST), "to be lost");
	}

	/**
	 * The application holds the lock now.
	 * @param key the key
	 * @return this
	 */
	public TestLocksAssert isHeld(String key) {
		return check(key, holds(key).anyMatch((hold) -> hold.state == State.HELD), "to be held now");
	}

	/**
	 * The lock was acquired a number of times. A re-entrant call does not acquire it.
	 * @param key the key
	 * @param times how often
	 * @return this
	 */
	public TestLocksAssert wasAcquiredTimes(String key, int times) {
		return check(key, holds(key).count() == times, "to be acquired %d times".formatted(times));
	}

	private Stream<Hold> holds(String key) {
		isNotNull();
		return this.actual.recorder.holds.stream().filter((hold) -> hold.key.equals(key));
	}

	private int commits() {
		return this.actual.recorder.commits.size();
	}

	private TestLocksAssert check(String key, boolean holds, String expected) {
		if (!holds) {
			throw failure("Expected lock '%s' %s, but %s; %d commits in total", key, expected, found(key), commits());
		}
		return this;
	}

	private String found(String key) {
		List<Hold> holds = holds(key).toList();
		if (!holds.isEmpty()) {
			return "it was acquired %d times: %s".formatted(holds.size(), holds);
		}
		return this.actual.recorder.attempts.isEmpty()
				? "no lock was requested: the method may be called on 'this' or on an object that is not a Spring bean"
				: "it was never acquired, only " + this.actual.recorder.attempts + " were requested";
	}

}
