package io.github.holdfast;

import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;

import io.github.holdfast.core.LockManager;
import io.github.holdfast.core.LockSettings;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * Runs code under locks if an annotated method is not possible. Templates are immutable
 * and safe for use by many threads; each {@code with…} method returns a copy.
 *
 * <pre class="code">
 * lockTemplate.withWaitTime(Duration.ofSeconds(2)).run("report:" + day, () -&gt; write(day));</pre>
 *
 * <p>
 * A call inside a running transaction is rejected, because that transaction might have
 * read old data and would commit after the release. Put
 * {@code @Transactional(propagation = REQUIRES_NEW)} on a method with
 * {@link DistributedLock} instead.
 *
 * <p>
 * All calls throw a {@link LockBackendException} if the store failed, an
 * {@link IllegalStateException} inside a transaction, and an
 * {@link IllegalArgumentException} for a blank key or more than 1000 keys.
 */
public final class LockTemplate {

	private static final int MAX_KEYS = 1000;

	private final LockManager manager;

	private final LockSettings settings;

	private final LockSettings effective;

	/**
	 * Create a template. In an application, it begins with the settings of
	 * {@code holdfast.…}.
	 * @param manager takes the locks
	 */
	public LockTemplate(LockManager manager) {
		this(manager, manager.defaults());
	}

	/**
	 * Create a template.
	 * @param manager takes the locks
	 * @param settings the settings to begin with
	 */
	public LockTemplate(LockManager manager, LockSettings settings) {
		this.manager = manager;
		this.settings = settings;
		this.effective = manager.effective(settings);
	}

	/**
	 * Sets the name for logs, meters and the overrides of {@code holdfast.locks}.
	 * Default: {@code LockTemplate}.
	 * @param name the name
	 * @return a copy
	 */
	public LockTemplate withName(String name) {
		return with(this.settings.withName(name));
	}

	/**
	 * Sets the text that the stored keys begin with. Default:
	 * {@code holdfast.key-prefix}.
	 * @param keyPrefix the prefix
	 * @return a copy
	 */
	public LockTemplate withKeyPrefix(String keyPrefix) {
		return with(this.settings.withKeyPrefix(keyPrefix));
	}

	/**
	 * Sets how long to wait for all keys together; zero means one attempt. Default:
	 * {@code holdfast.wait-time}.
	 * @param waitTime the wait time
	 * @return a copy
	 */
	public LockTemplate withWaitTime(Duration waitTime) {
		return with(new LockSettings.Times(waitTime, null, null, null));
	}

	/**
	 * Sets how long a lock outlives a process that died. It is renewed while the code
	 * runs. Default: {@code holdfast.lease-time}.
	 * @param leaseTime the lease time
	 * @return a copy
	 */
	public LockTemplate withLeaseTime(Duration leaseTime) {
		return with(new LockSettings.Times(null, leaseTime, null, null));
	}

	/**
	 * Sets how long the lease is renewed at most. Default: no limit.
	 * @param maxHoldTime the maximum hold time
	 * @return a copy
	 */
	public LockTemplate withMaxHoldTime(Duration maxHoldTime) {
		return with(new LockSettings.Times(null, null, maxHoldTime, null));
	}

	/**
	 * Sets how long the lock is held at least, like {@code lockAtLeastFor} of ShedLock.
	 * Default: none, so the lock is released when the code ends.
	 * @param minHoldTime the minimum hold time
	 * @return a copy
	 */
	public LockTemplate withMinHoldTime(Duration minHoldTime) {
		return with(new LockSettings.Times(null, null, null, minHoldTime));
	}

	/**
	 * Sets how the locks are shared. Default: {@link LockMode#EXCLUSIVE}.
	 * @param mode the mode
	 * @return a copy
	 */
	public LockTemplate withMode(LockMode mode) {
		return with(this.settings.withMode(mode, this.settings.fair(), this.settings.skips()));
	}

	/**
	 * Sets whether the waiters of all nodes are served in the order of their arrival.
	 * Default: {@code false}.
	 * @param fair whether to be fair
	 * @return a copy
	 */
	public LockTemplate withFair(boolean fair) {
		return with(this.settings.withMode(this.settings.mode(), fair, this.settings.skips()));
	}

	private LockTemplate with(LockSettings.Times times) {
		return with(this.settings.withTimes(this.settings.times().overriddenBy(times)));
	}

	private LockTemplate with(LockSettings settings) {
		return new LockTemplate(this.manager, settings);
	}

	/**
	 * Calls code under the lock of a key.
	 * @param <T> the type of the result
	 * @param <E> what the code throws
	 * @param key the key
	 * @param body the code
	 * @return what the code returned
	 * @throws E what the code threw
	 * @throws LockNotAcquiredException if the lock was busy for the wait time
	 */
	public <T extends @Nullable Object, E extends Throwable> T execute(String key, LockCallback<T, E> body) throws E {
		return execute(List.of(key), body);
	}

	/**
	 * Calls code under the locks of several keys, all or none, taken in sorted order.
	 * @param <T> the type of the result
	 * @param <E> what the code throws
	 * @param keys the keys; without any, the code runs without a lock
	 * @param body the code
	 * @return what the code returned
	 * @throws E what the code threw
	 * @throws LockNotAcquiredException if a lock was busy for the wait time
	 */
	public <T extends @Nullable Object, E extends Throwable> T execute(Collection<String> keys, LockCallback<T, E> body)
			throws E {
		return needsNoLock(keys) ? body.call() : this.manager.execute(keys, this.effective, body);
	}

	/**
	 * Runs code under the lock of a key.
	 * @param <E> what the code throws
	 * @param key the key
	 * @param body the code
	 * @throws E what the code threw
	 * @throws LockNotAcquiredException if the lock was busy for the wait time
	 */
	public <E extends Throwable> void run(String key, LockAction<E> body) throws E {
		execute(List.of(key), () -> {
			body.run();
			return null;
		});
	}

	/**
	 * Acquires the lock of a key.
	 * @param key the key
	 * @return the held lock, to be closed in a try-with-resources statement
	 * @throws LockNotAcquiredException if the lock was busy for the wait time
	 * @throws UnsupportedOperationException in mode {@link LockMode#OPTIMISTIC}
	 */
	public Scope acquire(String key) {
		return acquire(List.of(key));
	}

	/**
	 * Acquires the locks of several keys, all or none, in sorted order.
	 * @param keys the keys
	 * @return the held locks, to be closed in a try-with-resources statement
	 * @throws LockNotAcquiredException if a lock was busy for the wait time
	 * @throws UnsupportedOperationException in mode {@link LockMode#OPTIMISTIC}
	 */
	public Scope acquire(Collection<String> keys) {
		if (needsNoLock(keys)) {
			return () -> {
			};
		}
		if (this.effective.mode() == LockMode.OPTIMISTIC) {
			throw new UnsupportedOperationException("Lock '" + this.effective.name()
					+ "' is optimistic and needs code that can run again: call execute or run");
		}
		return this.manager.acquire(keys, this.effective)::close;
	}

	private boolean needsNoLock(Collection<String> keys) {
		keys.forEach((key) -> Assert.hasText(key, "Lock key must not be blank"));
		Assert.isTrue(keys.size() <= MAX_KEYS || new HashSet<>(keys).size() <= MAX_KEYS,
				() -> "More than " + MAX_KEYS + " locks at once: lock fewer keys, or take one lock for all of them");
		return keys.isEmpty() || !this.effective.enabled();
	}

	/**
	 * Locks that are held until they are closed.
	 */
	@FunctionalInterface
	public interface Scope extends AutoCloseable {

		/**
		 * Gives the locks back. Does nothing if it was called before.
		 * @throws LockLostAfterWorkException if a lock was lost, and no commit was
		 * rejected
		 */
		@Override
		void close();

	}

}
