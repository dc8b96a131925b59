package io.github.holdfast.sample.wms.proof;

import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Two nodes on one database.
 */
final class Cluster implements AutoCloseable {

	private final List<Node> nodes = new ArrayList<>();

	private List<URI> uris = List.of();

	private Cluster() {
	}

	static Cluster start(String name, TestDatabase database, String... arguments) throws IOException {
		List<String> all = Stream.concat(database.arguments().stream(), Stream.of(arguments)).toList();
		Cluster cluster = new Cluster();
		try {
			cluster.nodes.add(Node.start(name + "-1", all));
			cluster.nodes.add(Node.start(name + "-2", all));
			cluster.uris = cluster.nodes.stream().map(Node::uri).toList();
			return cluster;
		}
		catch (IOException | RuntimeException | Error ex) {
			cluster.close();
			throw ex;
		}
	}

	URI node(int number) {
		return this.uris.get(Math.floorMod(number, this.uris.size()));
	}

	void killFirst() {
		this.nodes.get(0).kill();
	}

	@Override
	public void close() {
		this.nodes.forEach(Node::close);
	}

}
