package io.github.holdfast.benchmarks.contender;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The servers that run.
 */
public final class Stores implements AutoCloseable {

	private final Map<Store, Store.Server> servers = new EnumMap<>(Store.class);

	/**
	 * Start servers.
	 * @param stores which ones
	 * @return the servers
	 * @throws IllegalStateException if one does not start; then none is left
	 */
	public static Stores start(Set<Store> stores) {
		Stores running = new Stores();
		try {
			for (Store store : stores) {
				running.servers.put(store, store.start());
			}
			return running;
		}
		catch (Exception ex) {
			running.close();
			throw new IllegalStateException("A store did not start", ex);
		}
	}

	/**
	 * How applications find the servers.
	 * @return properties of Spring Boot
	 */
	public List<String> properties() {
		return this.servers.values().stream().flatMap((server) -> server.properties().stream()).toList();
	}

	@Override
	public void close() {
		this.servers.forEach((store, server) -> {
			try {
				server.stop().close();
			}
			catch (Exception ex) {
				throw new IllegalStateException(store + " did not stop", ex);
			}
		});
	}

}
