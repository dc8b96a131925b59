package io.github.holdfast.autoconfigure;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockHolder;
import io.github.holdfast.core.LockConfigurationException;

/**
 * Fails the start when the store keeps its locks in a format that this version does not
 * know. A version with another format says so by a lock of the format before, which
 * nobody ever releases.
 */
final class LockFormatCheck implements StoreCheck {

	/** The format of this version. It is marked by no lock. */
	static final int FORMAT = 1;

	/** Behind the prefix. Its holder is the name of the format. */
	static final String KEY = "holdfast:format";

	private final LockBackend backend;

	private final LockProperties properties;

	/**
	 * Create a check.
	 * @param backend tells who holds a lock
	 * @param properties the prefix of the locks
	 */
	LockFormatCheck(LockBackend backend, LockProperties properties) {
		this.backend = backend;
		this.properties = properties;
	}

	@Override
	public void check() {
		String key = this.properties.getKeyPrefix() + KEY;
		LockHolder marker = this.backend.holder(key);
		if (marker != null) {
			throw new LockConfigurationException(
					"The locks are kept in a format that this version of Holdfast does not know, as it knows format "
							+ FORMAT + " only: the lock '" + key + "' is " + marker.text() + ".",
					"Run the version of Holdfast that the other nodes have. If none of them needs the other format "
							+ "any more, delete that lock; docs/upgrading.md tells how.");
		}
	}

}
