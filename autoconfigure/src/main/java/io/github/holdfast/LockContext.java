package io.github.holdfast;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import io.github.holdfast.core.LockCall;
import org.jspecify.annotations.Nullable;

/**
 * The lock that the current code runs under. Bound to the thread that took the lock;
 * threads that the code starts do not see it.
 */
public interface LockContext {

	/**
	 * The innermost lock that the current call chain holds.
	 * @return the lock, or empty without one and with {@code holdfast.enabled=false}
	 */
	static Optional<LockContext> current() {
		return Optional.ofNullable(LockCall.current());
	}

	/**
	 * Checks that the current call chain holds the lock of a key, for code that must
	 * never run without it. Does no I/O.
	 * @param key the key as it was locked, without the prefix
	 * @throws IllegalStateException if the chain does not hold it, or with
	 * {@code holdfast.enabled=false}
	 * @throws LockLostException if the chain took the lock, but cannot prove that it
	 * still holds it
	 */
	static void assertHeld(String key) {
		List<String> held = new ArrayList<>();
		for (LockCall call = LockCall.current(); call != null; call = call.outer()) {
			if (call.keys().contains(key)) {
				if (!call.isValid(key)) {
					throw new LockLostException(key,
							"its lease has run out, or the store has given it to another holder", null);
				}
				return;
			}
			call.keys().forEach((other) -> held.add(LockException.quote(other)));
		}
		throw new IllegalStateException("Lock " + LockException.quote(key) + " is not held here: this thread holds "
				+ (held.isEmpty() ? "no lock" : held) + ". Likely causes: the locked method was called on 'this' or "
				+ "on an object that is not a Spring bean, another thread does its work, the key is written in another "
				+ "way, or 'holdfast.enabled' is 'false'");
	}

	/**
	 * The lock's name for logs and meters.
	 * @return the name
	 */
	String name();

	/**
	 * The keys of this call as the caller gave them, sorted, without the prefix.
	 * @return the keys
	 */
	List<String> keys();

	/**
	 * The fencing token of the only key: a number that rises strictly with each holder
	 * that commits. The resources that the lock protects can check it. Optimistic locks
	 * have none.
	 * @return the token
	 * @throws IllegalStateException if there are several keys
	 * @throws UnsupportedOperationException if the lock is optimistic
	 */
	default long fencingToken() {
		if (keys().size() != 1) {
			throw new IllegalStateException("Lock '" + name() + "' has " + keys().size()
					+ " keys, each with its own token; use fencingToken(key) with one of "
					+ keys().stream().map(LockException::quote).toList());
		}
		return fencingToken(keys().get(0));
	}

	/**
	 * The fencing token of one key. A transaction lock reads it from its row.
	 * @param key one of {@link #keys()}
	 * @return the token
	 * @throws IllegalArgumentException if the key is not one of this call
	 * @throws IllegalStateException if the lock has been given back
	 * @throws LockBackendException if the row could not be read, for example because the
	 * thread was interrupted
	 */
	long fencingToken(String key);

	/**
	 * The time for which this process can still prove that it holds all keys.
	 * @return the shortest time, or {@code null} if no key has a lease that expires
	 */
	@Nullable Duration remaining();

	/**
	 * Whether this process can still prove that it holds a key. Does no I/O. An
	 * optimistic lock holds nothing and is valid until its body ends.
	 * @param key one of {@link #keys()}
	 * @return {@code false} once the lease was lost or released, or has run out and no
	 * transaction has locked its row
	 * @throws IllegalArgumentException if the key is another one
	 */
	boolean isValid(String key);

	/**
	 * Whether this process can still prove that it holds all keys. Does no I/O.
	 * @return {@code false} once a lease has run out, was lost or was released
	 */
	default boolean isValid() {
		return keys().stream().allMatch(this::isValid);
	}

}
