package io.github.holdfast.test;

import java.util.List;
import java.util.stream.Collectors;

import org.assertj.core.api.AbstractAssert;

/**
 * Assertions on what has become of locks since the test method began, or since
 * {@link TestLocks#reset()}. Locks that the test has made busy are not those of the
 * application and do not count.
 *
 * @since 0.2.0
 */
public final class TestLocksAssert extends AbstractAssert<TestLocksAssert, TestLocks> {

	TestLocksAssert(TestLocks actual) {
		super(actual, TestLocksAssert.class);
	}

	/**
	 * A transaction was committed while its thread held the lock: just before the commit,
	 * just after it, and all the time in between.
	 * @param key the key
	 * @return this
	 */
	public TestLocksAssert wasHeldDuringCommit(String key) {
		if (grants(key).stream().noneMatch((lease) -> lease.commits() > 0)) {
			throw failed(key, "to be held during a commit", seen(key));
		}
		return this;
	}

	/**
	 * Transactions were committed, and their threads held the lock during each of them.
	 * @param key the key
	 * @return this
	 */
	public TestLocksAssert wasHeldDuringEachCommit(String key) {
		int commits = this.actual.commits();
		int held = grants(key).stream().mapToInt(TestLease::commits).sum();
		if (commits == 0 || held != commits) {
			throw failed(key, "to be held during each commit", seen(key));
		}
		return this;
	}

	/**
	 * Each time that the lock was held, it was held during a commit, and given back after
	 * it.
	 * @param key the key
	 * @return this
	 */
	public TestLocksAssert wasReleasedAfterCommit(String key) {
		List<TestLease> grants = grants(key);
		if (grants.isEmpty() || !grants.stream()
			.allMatch((lease) -> lease.commits() > 0 && lease.state() == TestLease.State.RELEASED)) {
			throw failed(key, "to be released after a commit", seen(key));
		}
		return this;
	}

	/**
	 * The lock was acquired a number of times. A re-entrant call does not acquire it.
	 * @param key the key
	 * @param times how often
	 * @return this
	 */
	public TestLocksAssert wasAcquiredTimes(String key, int times) {
		if (grants(key).size() != times) {
			throw failed(key, "to be acquired %d times".formatted(times), seen(key));
		}
		return this;
	}

	/**
	 * The lock was acquired at least once.
	 * @param key the key
	 * @return this
	 */
	public TestLocksAssert wasHeld(String key) {
		if (grants(key).isEmpty()) {
			throw failed(key, "to be held", seen(key));
		}
		return this;
	}

	/**
	 * The lock was never acquired.
	 * @param key the key
	 * @return this
	 */
	public TestLocksAssert wasNotHeld(String key) {
		if (!grants(key).isEmpty()) {
			throw failed(key, "never to be held", seen(key));
		}
		return this;
	}

	/**
	 * A call gave up, as another holder had the lock for its whole wait time.
	 * @param key the key
	 * @return this
	 */
	public TestLocksAssert wasBusy(String key) {
		if (!this.actual.refusals().contains(key)) {
			throw failed(key, "to be waited for in vain", seen(key));
		}
		return this;
	}

	/**
	 * The lock was taken away from its holder.
	 * @param key the key
	 * @return this
	 */
	public TestLocksAssert wasLost(String key) {
		if (grants(key).stream().noneMatch((lease) -> lease.state() == TestLease.State.LOST)) {
			throw failed(key, "to be lost", seen(key));
		}
		return this;
	}

	/**
	 * The application holds the lock now.
	 * @param key the key
	 * @return this
	 */
	public TestLocksAssert isHeld(String key) {
		if (grants(key).stream().noneMatch((lease) -> lease.state().isHeld())) {
			throw failed(key, "to be held now", seen(key));
		}
		return this;
	}

	/**
	 * The application does not hold the lock now.
	 * @param key the key
	 * @return this
	 */
	public TestLocksAssert isNotHeld(String key) {
		if (grants(key).stream().anyMatch((lease) -> lease.state().isHeld())) {
			throw failed(key, "not to be held now", seen(key));
		}
		return this;
	}

	/**
	 * The store was asked for these locks, one after the other, and for no others.
	 * Several keys of one call are asked for in their sorted order.
	 * @param keys the keys
	 * @return this
	 */
	public TestLocksAssert wereAttemptedInOrder(String... keys) {
		List<String> attempts = this.actual.attempts();
		if (!attempts.equals(List.of(keys))) {
			throw failure("Expected the locks %s to be asked for in this order, but the store was asked for %s",
					List.of(keys), attempts);
		}
		return this;
	}

	private List<TestLease> grants(String key) {
		isNotNull();
		return this.actual.grants(key);
	}

	private AssertionError failed(String key, String expected, String seen) {
		return failure("Expected lock '%s' %s, but %s", key, expected, seen);
	}

	/**
	 * What happened instead.
	 */
	private String seen(String key) {
		List<TestLease> grants = this.actual.grants(key);
		String commits = "%d commits were seen in all".formatted(this.actual.commits());
		if (!grants.isEmpty()) {
			return "it was acquired %d times: %s; %s".formatted(grants.size(),
					grants.stream()
						.map((lease) -> "%s after %d commits under it".formatted(lease.state(), lease.commits()))
						.collect(Collectors.joining(", ")),
					commits);
		}
		List<String> attempts = this.actual.attempts();
		String likely = attempts.isEmpty()
				? "Likely causes: the method was called on 'this' or on an object that is no bean"
				: "Is the key another one?";
		return "it was never acquired; the store was asked for %s; %s. %s".formatted(attempts, commits, likely);
	}

}
