package io.github.holdfast.testsupport;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import static org.awaitility.Awaitility.await;

/** Three members with etcd's defaults. They go when this is closed or the JVM exits. */
public final class EtcdCluster implements AutoCloseable {

	private static final int MEMBERS = 3;

	private static final Duration ELECTION = Duration.ofMinutes(3);

	private final List<EtcdServer> members = new ArrayList<>();

	private EtcdCluster() {
	}

	public static EtcdCluster start(String... settings) {
		EtcdCluster cluster = new EtcdCluster();
		try {
			cluster.form(List.of(settings));
			return cluster;
		}
		catch (RuntimeException ex) {
			cluster.close();
			throw ex;
		}
	}

	private void form(List<String> settings) {
		List<EtcdServer.Ports> ports = IntStream.range(0, MEMBERS).mapToObj((i) -> EtcdServer.Ports.free()).toList();
		String peers = IntStream.range(0, MEMBERS)
			.mapToObj((i) -> "member" + i + "=" + ports.get(i).peerUrl())
			.collect(Collectors.joining(","));
		String token = UUID.randomUUID().toString();
		for (int i = 0; i < MEMBERS; i++) {
			List<String> member = new ArrayList<>(
					List.of("--name", "member" + i, "--initial-cluster", peers, "--initial-cluster-token", token));
			member.addAll(settings);
			this.members.add(new EtcdServer(ports.get(i), member));
		}
		this.members.forEach(EtcdServer::launch);
		this.members.forEach(EtcdServer::awaitHealthy);
	}

	public List<String> endpoints() {
		return this.members.stream().map(EtcdServer::endpoint).toList();
	}

	public EtcdServer leader() {
		return await().atMost(ELECTION)
			.until(() -> this.members.stream().filter(EtcdServer::isLeader).findFirst().orElse(null),
					(leader) -> leader != null);
	}

	public List<EtcdServer> followers() {
		EtcdServer leader = leader();
		return this.members.stream().filter((member) -> member != leader).toList();
	}

	@Override
	public void close() {
		this.members.forEach(EtcdServer::close);
	}

}
