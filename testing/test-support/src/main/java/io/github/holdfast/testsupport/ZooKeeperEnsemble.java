package io.github.holdfast.testsupport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingCluster;

public final class ZooKeeperEnsemble implements AutoCloseable {

	private final TestingCluster cluster;

	private ZooKeeperEnsemble() {
		List<InstanceSpec> servers = Stream.generate(ZooKeeperServer::newSpec).limit(3).toList();
		this.cluster = new TestingCluster(servers);
		try {
			this.cluster.start();
		}
		catch (Exception ex) {
			close();
			throw new IllegalStateException("ZooKeeper did not start", ex);
		}
	}

	public static ZooKeeperEnsemble start() {
		return new ZooKeeperEnsemble();
	}

	public CuratorFramework client() {
		return ZooKeeperServer.client(this.cluster.getConnectString(), Duration.ofSeconds(10));
	}

	public InstanceSpec killLeader() {
		try {
			InstanceSpec leader = this.cluster.getInstances()
				.stream()
				.filter(ZooKeeperEnsemble::isLeader)
				.findFirst()
				.orElseThrow(() -> new IllegalStateException("There is no leader"));
			this.cluster.killServer(leader);
			return leader;
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static boolean isLeader(InstanceSpec server) {
		try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.getPort())) {
			socket.getOutputStream().write("srvr".getBytes(StandardCharsets.US_ASCII));
			return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII)
				.contains("Mode: leader");
		}
		catch (IOException ex) {
			return false;
		}
	}

	public void restart(InstanceSpec server) {
		try {
			this.cluster.restartServer(server);
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public void close() {
		try {
			this.cluster.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		finally {
			ZooKeeperServer.deleteFolders(this.cluster.getInstances());
		}
	}

}
