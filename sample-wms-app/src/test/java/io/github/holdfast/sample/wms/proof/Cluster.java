package io.github.holdfast.sample.wms.proof;

import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;

/**
 * Two nodes on one database.
 */
final class Cluster implements AutoCloseable {

	private final List<Node> nodes = new ArrayList<>();

	private List<URI> uris = List.of();

	private Cluster() {
	}

	static Cluster start(String name, List<String> arguments) throws IOException {
		Cluster cluster = new Cluster();
		try {
			cluster.nodes.add(Node.start(name + "-1", arguments));
			cluster.nodes.add(Node.start(name + "-2", arguments));
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
