package io.github.holdfast.migration;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackend;
import io.github.holdfast.fence.Fence;

/**
 * One of the two places in which a lock is taken.
 *
 * @param name what all nodes call the store
 * @param store keeps the locks, with its fence but without a queue
 * @param fence checks commits under its leases, or {@code null} if there is none
 * @param keyPrefix what its keys begin with
 * @since 0.2.0
 */
public record LockPlace(String name, LockBackend store, @Nullable Fence fence,
		String keyPrefix) implements Comparable<LockPlace> {

	/**
	 * In the order in which all nodes take the locks, whichever place is their own.
	 */
	@Override
	public int compareTo(LockPlace other) {
		int names = this.name.compareTo(other.name);
		return (names != 0) ? names : this.keyPrefix.compareTo(other.keyPrefix);
	}

	/**
	 * What a key of another place is called here. Only keys with the prefix of that place
	 * are called otherwise.
	 */
	String keyOf(LockPlace other, String key) {
		return key.startsWith(other.keyPrefix) ? this.keyPrefix + key.substring(other.keyPrefix.length()) : key;
	}

}
