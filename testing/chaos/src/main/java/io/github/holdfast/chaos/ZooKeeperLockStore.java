package io.github.holdfast.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.KeeperException;

import io.github.holdfast.testsupport.ZooKeeperProcesses;
import io.github.holdfast.testsupport.ZooKeeperServer;

/**
 * Three ZooKeeper servers, each in a process of its own.
 */
final class ZooKeeperLockStore implements LockStore {

	static final Set<Fault.Kind> FAULTS = EnumSet.of(Fault.Kind.FORGET, Fault.Kind.RESTART, Fault.Kind.LEADER_KILLED,
			Fault.Kind.STORE_PAUSE);

	private static final int SERVERS = 3;

	private static final String LOCKS = "/holdfast/locks";

	private static final Duration SESSION = Duration.ofSeconds(10);

	private final ZooKeeperProcesses servers = ZooKeeperProcesses.start(SERVERS);

	private Optional<Integer> victim = Optional.empty();

	@Override
	public List<Integer> ports() {
		return this.servers.ports();
	}

	@Override
	public boolean begin(Fault fault) {
		switch (fault.kind()) {
			case FORGET -> {
				return forget() > 0;
			}
			case RESTART -> {
				this.servers.restart();
				return true;
			}
			case LEADER_KILLED -> {
				this.victim = this.servers.leader();
				this.victim.ifPresent(this.servers::kill);
				return this.victim.isPresent();
			}
			case STORE_PAUSE -> {
				this.victim = this.servers.leader();
				this.victim.ifPresent(this.servers::pause);
				return this.victim.isPresent();
			}
			default -> throw new IllegalArgumentException(fault.toString());
		}
	}

	@Override
	public void end(Fault fault) {
		switch (fault.kind()) {
			case LEADER_KILLED -> this.victim.ifPresent(this.servers::startAgain);
			case STORE_PAUSE -> this.victim.ifPresent(this.servers::resume);
			default -> {
			}
		}
	}

	/**
	 * Deletes the nodes of all holders and waiters, as an operator does.
	 */
	private int forget() {
		int deleted = 0;
		try (CuratorFramework client = client()) {
			for (String node : nodes(client)) {
				client.delete().quietly().forPath(node);
				deleted++;
			}
		}
		catch (Exception ex) {
			// The operator gives up: there is no leader
		}
		return deleted;
	}

	private CuratorFramework client() {
		return ZooKeeperServer
			.client(ports().stream().map((port) -> "127.0.0.1:" + port).collect(Collectors.joining(",")), SESSION);
	}

	private static List<String> nodes(CuratorFramework client) throws Exception {
		List<String> nodes = new ArrayList<>();
		try {
			for (String lock : client.getChildren().forPath(LOCKS)) {
				for (String node : client.getChildren().forPath(LOCKS + "/" + lock)) {
					nodes.add(LOCKS + "/" + lock + "/" + node);
				}
			}
		}
		catch (KeeperException.NoNodeException ex) {
			// Nobody has taken a lock yet, or not for a while
		}
		return nodes;
	}

	@Override
	public List<String> leftovers() {
		try (CuratorFramework client = client()) {
			return nodes(client);
		}
		catch (Exception ex) {
			throw new IllegalStateException("ZooKeeper does not answer", ex);
		}
	}

	@Override
	public long size() {
		try (CuratorFramework client = client()) {
			return client.getZookeeperClient().getZooKeeper().getAllChildrenNumber("/");
		}
		catch (Exception ex) {
			throw new IllegalStateException("ZooKeeper does not answer", ex);
		}
	}

	@Override
	public void close() {
		this.servers.close();
	}

}
