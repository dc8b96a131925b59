package io.github.holdfast.autoconfigure;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.LockConfigurationException;

/**
 * The overrides of {@code holdfast.locks}. Notes which names are asked for while the
 * application starts.
 */
class LockOverrides implements Function<String, LockTemplate.@Nullable Overrides> {

	private final Map<String, LockTemplate.Overrides> overrides = new TreeMap<>();

	private final Set<String> asked = ConcurrentHashMap.newKeySet();

	private volatile boolean started;

	LockOverrides(Map<String, LockProperties.Lock> locks) {
		locks.forEach((name, lock) -> this.overrides.put(name, overrides(name, lock)));
	}

	private static LockTemplate.Overrides overrides(String name, LockProperties.Lock lock) {
		try {
			return new LockTemplate.Overrides(lock.isEnabled(), lock.getWaitTime(), lock.getLeaseTime(),
					lock.getMaxHoldTime(), lock.getMinHoldTime());
		}
		catch (IllegalArgumentException ex) {
			throw new LockConfigurationException(
					"The overrides 'holdfast.locks[" + name + "]' are not usable: " + ex.getMessage() + ".",
					"Correct the times there.", ex);
		}
	}

	@Override
	public LockTemplate.@Nullable Overrides apply(String name) {
		if (!this.started) {
			this.asked.add(name);
		}
		return this.overrides.get(name);
	}

	Map<String, LockTemplate.Overrides> all() {
		return this.overrides;
	}

	/**
	 * The names that have been asked for. From now on none is noted any more.
	 */
	Set<String> endStart() {
		this.started = true;
		Set<String> names = new TreeSet<>(this.asked);
		this.asked.clear();
		return names;
	}

}
