package io.github.holdfast.test;

import java.time.Duration;
import java.util.List;

import org.assertj.core.api.AssertProvider;

/**
 * The locks of a test: they are in memory, do what the test tells them, and know what has
 * become of them. {@link AutoConfigureTestLocks} makes them a bean.
 *
 * <p>
 * Keys are those of the application, without the prefix. What a test has ordered ends
 * with it.
 *
 * <pre class="code">
 * assertThat(locks).wasHeldDuringCommit("stock:A");
 * </pre>
 *
 * @since 0.2.0
 */
public final class TestLocks implements AssertProvider<TestLocksAssert> {

	private final TestLockBackend backend;

	private final String keyPrefix;

	TestLocks(TestLockBackend backend, String keyPrefix) {
		this.backend = backend;
		this.keyPrefix = keyPrefix;
	}

	/**
	 * Lets another holder have a lock, as if it were on another node. Calls wait for it
	 * as they would in production.
	 * @param key the key
	 * @throws IllegalStateException if the lock is held
	 */
	public void makeBusy(String key) {
		this.backend.makeBusy(stored(key));
	}

	/**
	 * Lets the other holder of a lock give it back.
	 * @param key the key
	 */
	public void free(String key) {
		this.backend.free(stored(key));
	}

	/**
	 * Takes a lock away from its holder when its transaction is about to commit. The
	 * commit is refused then, with a {@link io.github.holdfast.LockLostException}, and
	 * the transaction rolled back. This happens once: the next commit succeeds.
	 * @param key the key
	 */
	public void loseAtNextCommit(String key) {
		this.backend.loseAtNextCommit(stored(key));
	}

	/**
	 * Lets the store take some time for each of its answers.
	 * @param delay the time, or zero to end this
	 */
	public void slowDown(Duration delay) {
		this.backend.delay(delay);
	}

	/**
	 * Lets the store fail whatever it is asked, also those who wait for a lock already.
	 */
	public void takeDown() {
		this.backend.down(true);
	}

	/**
	 * Lets the store answer again. What could not be released meanwhile is free.
	 */
	public void bringUp() {
		this.backend.down(false);
	}

	/**
	 * Ends what was ordered and forgets what was recorded, apart from locks that are
	 * held. Each test method begins like this; another time is for a test that does
	 * something first that does not matter.
	 */
	public void reset() {
		this.backend.reset();
	}

	List<TestLease> grants(String key) {
		return this.backend.grants(stored(key));
	}

	List<String> attempts() {
		return this.backend.attempts().stream().map(this::callers).toList();
	}

	List<String> refusals() {
		return this.backend.refusals().stream().map(this::callers).toList();
	}

	int commits() {
		return this.backend.commits();
	}

	private String stored(String key) {
		return this.keyPrefix + key;
	}

	private String callers(String storedKey) {
		return storedKey.startsWith(this.keyPrefix) ? storedKey.substring(this.keyPrefix.length()) : storedKey;
	}

	/**
	 * For {@link org.assertj.core.api.Assertions#assertThat(AssertProvider)}.
	 * @return assertions on these locks
	 */
	@Override
	public TestLocksAssert assertThat() {
		return new TestLocksAssert(this);
	}

	@Override
	public String toString() {
		return "TestLocks[attempts=" + attempts() + ", commits=" + commits() + "]";
	}

}
