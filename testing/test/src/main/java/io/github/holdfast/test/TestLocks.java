package io.github.holdfast.test;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;

import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.LockManager;
import org.assertj.core.api.AssertProvider;

/**
 * The locks of a test: they are in memory, behave as the test orders, and record what
 * happens to them. {@link AutoConfigureTestLocks} provides them as a bean.
 *
 * <p>
 * Keys are written without the prefix. All orders end with the test method.
 *
 * <pre class="code">
 * assertThat(locks).wasHeldDuringCommit("stock:A");
 * </pre>
 */
public final class TestLocks implements AssertProvider<TestLocksAssert> {

	private final TestLockBackend backend;

	final LockRecorder recorder;

	private final LockTemplate otherHolder;

	private final Map<String, LockTemplate.Scope> others = new ConcurrentHashMap<>();

	TestLocks(TestLockBackend backend, String keyPrefix) {
		this.backend = backend;
		this.recorder = new LockRecorder((key) -> backend.takeAway(keyPrefix + key));
		this.otherHolder = new LockTemplate(new LockManager(backend)).withKeyPrefix(keyPrefix);
	}

	/**
	 * Gives a lock to another holder, as if that were on another node.
	 * @param key the key
	 * @throws CompletionException if the lock is held
	 */
	public void makeBusy(String key) {
		this.others.put(key,
				CompletableFuture.supplyAsync(() -> this.otherHolder.withWaitTime(Duration.ZERO).acquire(key)).join());
	}

	/**
	 * Makes the other holder of a lock release it.
	 * @param key the key
	 */
	public void free(String key) {
		LockTemplate.Scope lock = this.others.remove(key);
		if (lock != null) {
			lock.close();
		}
	}

	/**
	 * Takes a lock away from its holder just before the next commit. The transaction is
	 * rolled back with a {@link io.github.holdfast.LockLostException}. The commit after
	 * that succeeds.
	 * @param key the key
	 */
	public void loseAtNextCommit(String key) {
		this.recorder.lostAtNextCommit.add(key);
	}

	/**
	 * Makes the store fail: calls that need a lock get a
	 * {@link io.github.holdfast.LockBackendException}.
	 */
	public void takeDown() {
		this.backend.down = true;
	}

	/** Makes the store answer again. */
	public void bringUp() {
		this.backend.down = false;
	}

	/**
	 * Ends all orders and clears the records, except for locks that are held. Each test
	 * method begins like this.
	 */
	public void reset() {
		bringUp();
		List.copyOf(this.others.keySet()).forEach(this::free);
		this.recorder.clear();
	}

	/**
	 * Supports {@link org.assertj.core.api.Assertions#assertThat(AssertProvider)}.
	 * @return assertions on these locks
	 */
	@Override
	public TestLocksAssert assertThat() {
		return new TestLocksAssert(this);
	}

}
