package io.github.holdfast.autoconfigure;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.function.Function;

import io.github.holdfast.LockConfigurationException;
import io.github.holdfast.core.LockSettings;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.SmartInitializingSingleton;

/**
 * The overrides of {@code holdfast.locks}. Notes which names are used during startup.
 */
final class LockOverrides implements Function<String, LockSettings.@Nullable Overrides>, SmartInitializingSingleton {

	private static final Logger logger = LoggerFactory.getLogger(LockOverrides.class);

	private final Map<String, LockSettings.Overrides> overrides = new TreeMap<>();

	private final Set<String> used = new ConcurrentSkipListSet<>();

	LockOverrides(Map<String, HoldfastProperties.Lock> locks) {
		locks.forEach((name, lock) -> this.overrides.put(name, overrides(name, lock)));
	}

	private static LockSettings.Overrides overrides(String name, HoldfastProperties.Lock lock) {
		try {
			return new LockSettings.Overrides(lock.enabled(),
					new LockSettings.Times(lock.waitTime(), lock.leaseTime(), lock.maxHoldTime(), lock.minHoldTime()));
		}
		catch (IllegalArgumentException ex) {
			throw new LockConfigurationException("'holdfast.locks[" + name + "]' is invalid: " + ex.getMessage() + ".",
					"Correct the times.", ex);
		}
	}

	@Override
	public LockSettings.@Nullable Overrides apply(String name) {
		LockSettings.Overrides found = this.overrides.get(name);
		if (found != null) {
			this.used.add(name);
		}
		return found;
	}

	/**
	 * Logs which overrides switch locks off, and which match no lock so far.
	 */
	@Override
	public void afterSingletonsInstantiated() {
		this.overrides.forEach((name, overrides) -> {
			if (!overrides.enabled()) {
				logger.warn("Lock '{}' is disabled by 'holdfast.locks': its methods run without a lock", name);
			}
		});
		Set<String> unused = new TreeSet<>(this.overrides.keySet());
		unused.removeAll(this.used);
		if (!unused.isEmpty()) {
			logger
				.warn("'holdfast.locks' contains names that match no lock at startup: {}. Put names that contain a dot "
						+ "in brackets: 'holdfast.locks[StockService.deduct].wait-time'", unused);
		}
	}

}
