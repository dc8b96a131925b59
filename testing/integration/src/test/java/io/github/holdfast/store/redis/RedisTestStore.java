package io.github.holdfast.store.redis;

import java.util.Set;
import java.util.function.IntFunction;

import io.github.holdfast.LockBackend;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedissonClients;
import io.github.holdfast.testsupport.TestStore;

/**
 * Redis, through one of its clients, as contracts see it.
 */
final class RedisTestStore implements TestStore {

	private final RedisServer server;

	private final FaultProxy proxy;

	private final RedisNode near;

	private final RedisNode far;

	private RedisTestStore(RedisServer server, IntFunction<RedisNode> client) {
		this.server = server;
		this.proxy = new FaultProxy(server.port());
		this.near = client.apply(this.proxy.port());
		this.far = client.apply(server.port());
	}

	static RedisTestStore lettuce(RedisServer server) {
		return new RedisTestStore(server, (port) -> RedisNode.lettuce(RedisConnections.lettuce(port)));
	}

	static RedisTestStore redisson(RedisServer server) {
		return new RedisTestStore(server, (port) -> RedisNode.redisson(RedissonClients.single(port)));
	}

	@Override
	public LockBackend near() {
		return this.near.backend();
	}

	@Override
	public LockBackend far() {
		return this.far.backend();
	}

	@Override
	public FaultProxy proxy() {
		return this.proxy;
	}

	@Override
	public boolean isHeld(String key) {
		return this.server.command("EXISTS", LockKey.of(key).lock()).equals(1L);
	}

	@Override
	public boolean isWaitedFor(String key) {
		return this.server.command("PUBSUB", "NUMSUB", LockKey.of(key).channel()).toString().endsWith(" 1]");
	}

	@Override
	public void remove(String key) {
		this.server.command("DEL", LockKey.of(key).lock());
	}

	@Override
	public Set<Told> told() {
		return Set.of(Told.EXPIRES);
	}

	@Override
	public void close() {
		this.near.close();
		this.far.close();
		this.proxy.close();
	}

}
