package io.github.holdfast.sample.wms.proof;

import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Two nodes on one database.
 */
final class Cluster implements AutoCloseable {

	private final List<Node> nodes = new ArrayList<>();

	private List<URI> uris = List.of();

	private Cluster() {
	}

	/**
	 * Starts two nodes.
	 * @param name names the files with their output, together with that of the database
	 * @param database where they have their data
	 * @param server where they keep their locks
	 * @param arguments what they are told in addition
	 * @return the nodes
	 */
	static Cluster start(String name, StockDatabase database, LockServer server, String... arguments)
			throws IOException {
		List<String> all = new ArrayList<>(database.arguments());
		all.addAll(server.arguments());
		Collections.addAll(all, arguments);
		return start(database.name() + "-" + name, all);
	}

	private static Cluster start(String name, List<String> arguments) throws IOException {
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

	void pauseFirst() throws IOException, InterruptedException {
		this.nodes.get(0).pause();
	}

	void resumeFirst() throws IOException, InterruptedException {
		this.nodes.get(0).resume();
	}

	@Override
	public void close() {
		this.nodes.forEach(Node::close);
	}

}
