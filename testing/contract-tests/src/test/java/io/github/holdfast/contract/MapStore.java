package io.github.holdfast.contract;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/** Stands for a server that has locks with leases that run out by its clock. */
final class MapStore {

	private final Map<String, Entry> locks = new HashMap<>();

	private long lastEpoch = System.currentTimeMillis() * 1000;

	/** Returns the epoch of the grant, or {@code null} if there is another holder. */
	synchronized @Nullable Long take(String key, String owner, Duration leaseTime) {
		if (held(key) != null) {
			return null;
		}
		this.locks.put(key, Entry.of(owner, leaseTime));
		return ++this.lastEpoch;
	}

	synchronized boolean extend(String key, String owner, Duration leaseTime) {
		Entry held = held(key);
		if (held == null || !held.owner().equals(owner)) {
			return false;
		}
		this.locks.put(key, Entry.of(owner, leaseTime));
		return true;
	}

	synchronized boolean remove(String key, String owner) {
		Entry held = held(key);
		return held != null && held.owner().equals(owner) && this.locks.remove(key) != null;
	}

	private @Nullable Entry held(String key) {
		Entry entry = this.locks.get(key);
		return (entry != null && entry.end() - System.nanoTime() > 0) ? entry : null;
	}

	private record Entry(String owner, long end) {

		static Entry of(String owner, Duration leaseTime) {
			return new Entry(owner, System.nanoTime() + leaseTime.toNanos());
		}

	}

}
