package io.github.holdfast;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.core.HeldLock;
import io.github.holdfast.core.LockStack;

/**
 * The lock under which the current code runs.
 *
 * <p>
 * Bound to the thread that took the lock; threads that the code starts do not see it.
 *
 * @since 0.2.0
 */
public interface LockContext {

	/**
	 * The innermost lock that the current call chain holds.
	 * @return the lock, or empty outside of any lock and with
	 * {@code holdfast.enabled=false}
	 */
	static Optional<LockContext> current() {
		return Optional.ofNullable(LockStack.current());
	}

	/**
	 * Checks that the current call chain holds the lock of a key, for code that must
	 * never run without it. Does no I/O.
	 * @param key the key as it was locked, without the prefix
	 * @throws IllegalStateException if it does not hold it, also with
	 * {@code holdfast.enabled=false}
	 * @throws LockLostException if it has taken the lock, but cannot prove any more that
	 * it holds it
	 */
	static void assertHeld(String key) {
		List<HeldLock> all = LockStack.all();
		for (HeldLock lock : all) {
			int index = lock.keys().indexOf(key);
			if (index >= 0 && lock.leases().get(index).isValid()) {
				return;
			}
			if (index >= 0) {
				throw new LockLostException(key, "its lease has run out, or the store has given it to another holder",
						null);
			}
		}
		String held = all.isEmpty() ? "no lock"
				: all.stream()
					.flatMap((lock) -> lock.keys().stream())
					.map(LockException::quote)
					.distinct()
					.toList()
					.toString();
		throw new IllegalStateException("Lock " + LockException.quote(key) + " is not held here: this thread holds "
				+ held + ". Likely causes: the locked method was called on 'this' or on an object that is no bean, "
				+ "another thread does its work, the key is written in another way, or 'holdfast.enabled' is 'false'");
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
	 * The leases of this call in the order of {@link #keys()}, including those that an
	 * outer call of the same chain acquired.
	 * @return the leases
	 */
	List<LockLease> leases();

	/**
	 * The fencing token of the only key, which optimistic locks do not have: a number
	 * that rises strictly with each holder of the key, to be checked by the resources
	 * that the lock protects.
	 * @return the token
	 * @throws IllegalStateException if there are several keys
	 * @throws UnsupportedOperationException if the lock is optimistic
	 */
	default long token() {
		if (leases().size() != 1) {
			throw new IllegalStateException("Lock '" + name() + "' has " + leases().size()
					+ " keys, each with its own token; use token(key) with one of "
					+ keys().stream().map(LockException::quote).toList());
		}
		return leases().get(0).token();
	}

	/**
	 * The fencing token of one key.
	 * @param key one of {@link #keys()}
	 * @return the token
	 * @throws IllegalArgumentException if the key is not one of this call
	 */
	default long token(String key) {
		int index = keys().indexOf(key);
		if (index < 0) {
			throw new IllegalArgumentException("Lock '" + name() + "' does not hold " + LockException.quote(key)
					+ " but " + keys().stream().map(LockException::quote).toList());
		}
		return leases().get(index).token();
	}

	/**
	 * The time for which this process can still prove that it holds all keys.
	 * @return the shortest time, or {@code null} if no key has a lease that runs out
	 */
	default @Nullable Duration remaining() {
		Duration shortest = null;
		for (LockLease lease : leases()) {
			Duration remaining = lease.remaining();
			if (remaining != null && (shortest == null || remaining.compareTo(shortest) < 0)) {
				shortest = remaining;
			}
		}
		return shortest;
	}

	/**
	 * Whether this process can still prove that it holds all keys. Does no I/O. An
	 * optimistic lock holds nothing and is valid until its body ends.
	 * @return {@code false} once a lease has run out, was reported lost or was released
	 */
	default boolean isValid() {
		return leases().stream().allMatch(LockLease::isValid);
	}

}
