package io.github.holdfast.testsupport;

import java.util.List;
import java.util.stream.Stream;

/** Three Redis masters, each behind a proxy. They go when this is closed. */
public final class RedisQuorum implements AutoCloseable {

	private final List<RedisServer> servers;

	private final List<FaultProxy> proxies;

	public RedisQuorum() {
		this.servers = Stream.generate(RedisServer::start).limit(3).toList();
		this.proxies = this.servers.stream().map((server) -> new FaultProxy(server.port())).toList();
	}

	public RedisServer server(int index) {
		return this.servers.get(index);
	}

	public List<RedisServer> servers() {
		return this.servers;
	}

	public FaultProxy proxy(int index) {
		return this.proxies.get(index);
	}

	public List<String> nodes() {
		return this.proxies.stream().map((proxy) -> "127.0.0.1:" + proxy.port()).toList();
	}

	@Override
	public void close() {
		this.proxies.forEach(FaultProxy::close);
		this.servers.forEach(RedisServer::close);
	}

}
