package io.github.holdfast.core;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.function.BiFunction;

import org.jspecify.annotations.Nullable;

/**
 * What the core uses of the class of the JDK, with fewer steps. One monitor for all keys
 * is as good as one for each, because the functions of the core do not wait.
 */
final class ConcurrentHashMap<K, V> {

	private final Map<K, V> map = new HashMap<>();

	static <T> Set<T> newKeySet() {
		return new CopyOnWriteArraySet<>();
	}

	static <T> Set<T> newKeySet(int size) {
		return newKeySet();
	}

	@Nullable V get(K key) {
		synchronized (this.map) {
			return this.map.get(key);
		}
	}

	@Nullable V compute(K key, BiFunction<K, @Nullable V, @Nullable V> change) {
		synchronized (this.map) {
			return this.map.compute(key, change);
		}
	}

	boolean isEmpty() {
		synchronized (this.map) {
			return this.map.isEmpty();
		}
	}

}
