package io.github.holdfast.schedules;

import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

/**
 * A map whose computations lock the key under the schedule.
 *
 * @param <K> the type of the keys
 * @param <V> the type of the values
 */
public final class ControlledMap<K, V> extends ConcurrentHashMap<K, V> {

	private static final long serialVersionUID = 1L;

	private final transient ConcurrentHashMap<K, Object> locks = new ConcurrentHashMap<>();

	/**
	 * Create a map without keys.
	 */
	public ControlledMap() {
	}

	@Override
	public @Nullable V get(Object key) {
		Hooks.point();
		return super.get(key);
	}

	@Override
	public int size() {
		Hooks.point();
		return super.size();
	}

	/**
	 * As that of the JDK, which does not always wait for a computation if the key is
	 * there.
	 */
	@Override
	public @Nullable V putIfAbsent(K key, V value) {
		Hooks.point();
		V present = super.get(key);
		if (present != null) {
			return present;
		}
		Object lock = lock(key);
		Hooks.monitorEnter(lock);
		try {
			return super.putIfAbsent(key, value);
		}
		finally {
			Hooks.monitorExit(lock);
		}
	}

	@Override
	public @Nullable V compute(K key, BiFunction<? super K, ? super V, ? extends V> remapping) {
		Object lock = lock(key);
		Hooks.monitorEnter(lock);
		try {
			V value = remapping.apply(key, super.get(key));
			if (value != null) {
				super.put(key, value);
			}
			else {
				super.remove(key);
			}
			return value;
		}
		finally {
			Hooks.monitorExit(lock);
		}
	}

	@Override
	public @Nullable V computeIfPresent(K key, BiFunction<? super K, ? super V, ? extends V> remapping) {
		return compute(key, (same, value) -> (value != null) ? remapping.apply(same, value) : null);
	}

	@Override
	public @Nullable V computeIfAbsent(K key, Function<? super K, ? extends V> mapping) {
		return compute(key, (same, value) -> (value != null) ? value : mapping.apply(same));
	}

	private Object lock(K key) {
		return this.locks.computeIfAbsent(key, (absent) -> new Object());
	}

}
