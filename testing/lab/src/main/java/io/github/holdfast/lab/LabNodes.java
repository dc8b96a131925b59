package io.github.holdfast.lab;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.github.holdfast.lab.strategy.Order;
import io.github.holdfast.lab.strategy.StrategyType;

/**
 * The nodes. They are kept from run to run, as long as the next one needs them as they
 * are.
 */
final class LabNodes implements AutoCloseable {

	private final LabServers servers;

	private final Lab.Properties properties;

	private final NodeClient client;

	private final List<LabNode> nodes = new ArrayList<>();

	private final AtomicInteger warmUps = new AtomicInteger();

	private List<String> nodeProperties = List.of();

	private boolean redisWasAway;

	private boolean closed;

	LabNodes(LabServers servers, Lab.Properties properties, NodeClient client) {
		this.servers = servers;
		this.properties = properties;
		this.client = client;
	}

	/** Sees to it that there are as many nodes as needed, without waiting for them. */
	synchronized void require(StrategyType strategy, int count) {
		if (this.closed) {
			throw new IllegalStateException("The lab has ended");
		}
		if (this.redisWasAway || !strategy.nodeProperties().equals(this.nodeProperties)) {
			closeFrom(0);
			this.redisWasAway = false;
			this.nodeProperties = strategy.nodeProperties();
		}
		closeFrom(count);
		for (int i = 0; i < this.nodes.size(); i++) {
			if (this.nodes.get(i).state() != LabNode.State.UP) {
				this.nodes.get(i).close();
				this.nodes.set(i, start(i + 1));
			}
		}
		while (this.nodes.size() < count) {
			this.nodes.add(start(this.nodes.size() + 1));
		}
	}

	/** The nodes may not know yet that Redis is back: the next run gets others. */
	synchronized void redisWasAway() {
		this.redisWasAway = true;
	}

	private void closeFrom(int index) {
		List<LabNode> surplus = this.nodes.subList(Math.min(index, this.nodes.size()), this.nodes.size());
		surplus.forEach(LabNode::close);
		surplus.clear();
	}

	private LabNode start(int id) {
		List<String> arguments = Stream
			.concat(Stream.of("spring.datasource.url=" + this.servers.jdbcUrl(),
					"spring.data.redis.port=" + this.servers.redis().port(),
					"lab.lease-time=" + this.properties.leaseTime().toMillis() + "ms",
					"lab.wait-time=" + this.properties.waitTime().toMillis() + "ms"), this.nodeProperties.stream())
			.map((property) -> "--" + property)
			.toList();
		return new LabNode(id, this.servers.folder(), arguments);
	}

	void awaitStart(StrategyType strategy) throws IOException, InterruptedException {
		for (LabNode node : all()) {
			awaitStart(node, strategy);
		}
	}

	void awaitStart(LabNode node, StrategyType strategy) throws IOException, InterruptedException {
		node.awaitStart();
		// So that no order of a run waits for a node that is still cold
		this.client.send(node, new Order.Request(strategy.id(), this.warmUps.incrementAndGet(), "warm-up", 1, 0,
				(int) this.properties.waitTime().toMillis(), 0));
		node.up();
	}

	synchronized List<LabNode> all() {
		return List.copyOf(this.nodes);
	}

	synchronized List<LabNode.View> views() {
		return this.nodes.stream().map(LabNode::view).toList();
	}

	@Override
	public synchronized void close() {
		this.closed = true;
		closeFrom(0);
	}

}
