package io.github.holdfast.benchmarks;

import java.io.IOException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

public final class Stores implements AutoCloseable {

	private final Map<Store, Store.Server> servers = new EnumMap<>(Store.class);

	private final Map<Store, DistantServer> distant = new EnumMap<>(Store.class);

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

	public List<String> properties() {
		return this.servers.values().stream().map((server) -> server.property().apply(server.port())).toList();
	}

	/** How applications find the servers as if these were on other machines. */
	public List<String> distantProperties(Duration messageTime) throws IOException {
		for (Map.Entry<Store, Store.Server> server : this.servers.entrySet()) {
			if (!this.distant.containsKey(server.getKey())) {
				this.distant.put(server.getKey(), DistantServer.open(server.getValue().port(), messageTime));
			}
		}
		return this.servers.entrySet()
			.stream()
			.map((server) -> server.getValue().property().apply(this.distant.get(server.getKey()).port()))
			.toList();
	}

	@Override
	public void close() {
		try {
			for (DistantServer server : this.distant.values()) {
				server.close();
			}
			for (Store.Server server : this.servers.values()) {
				server.stop().close();
			}
		}
		catch (Exception ex) {
			throw new IllegalStateException("A store did not stop", ex);
		}
	}

}
