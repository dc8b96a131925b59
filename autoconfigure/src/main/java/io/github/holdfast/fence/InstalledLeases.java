package io.github.holdfast.fence;

import java.util.LinkedHashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockLease;

/**
 * The leases that this JVM has written into the fence table last, as far as it remembers
 * them. What it has forgotten is only written once more. Safe for use by many threads.
 */
final class InstalledLeases {

	private static final int MOST = 10_000;

	private final Map<String, FenceEntry> entries = new LinkedHashMap<>(16, 0.75f, true) {

		private static final long serialVersionUID = 1L;

		@Override
		protected boolean removeEldestEntry(Map.Entry<String, FenceEntry> eldest) {
			return size() > MOST;
		}

	};

	/**
	 * Whether the table has the row of a lock, unless it has been removed since.
	 */
	boolean hasRow(String key) {
		return find(key) != null;
	}

	/**
	 * Whether a lease is in the table, so that transactions of earlier holders cannot
	 * commit any more.
	 */
	boolean contains(LockLease lease) {
		FenceEntry entry = find(lease.key());
		return entry != null && entry.isOf(lease);
	}

	private synchronized @Nullable FenceEntry find(String key) {
		return this.entries.get(key);
	}

	synchronized void add(LockLease lease) {
		this.entries.put(lease.key(), new FenceEntry(lease.epoch(), lease.owner()));
	}

	/**
	 * Forget the row of a lock, which may have been removed.
	 */
	synchronized void forget(String key) {
		this.entries.remove(key);
	}

}
