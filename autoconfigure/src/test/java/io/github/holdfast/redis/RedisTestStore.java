package io.github.holdfast.redis;

import org.redisson.api.RedissonClient;

import org.springframework.data.redis.connection.RedisConnectionFactory;

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

	private final LockBackend near;

	private final LockBackend far;

	private final Runnable closeClients;

	private RedisTestStore(RedisServer server, FaultProxy proxy, LockBackend near, LockBackend far,
			Runnable closeClients) {
		this.server = server;
		this.proxy = proxy;
		this.near = near;
		this.far = far;
		this.closeClients = closeClients;
	}

	static RedisTestStore lettuce(RedisServer server) {
		FaultProxy proxy = new FaultProxy(server.port());
		RedisConnectionFactory near = RedisConnections.lettuce(proxy.port());
		RedisConnectionFactory far = RedisConnections.lettuce(server.port());
		return new RedisTestStore(server, proxy, new RedisLockBackend(() -> near), new RedisLockBackend(() -> far),
				() -> {
					RedisConnections.close(near);
					RedisConnections.close(far);
				});
	}

	static RedisTestStore redisson(RedisServer server) {
		FaultProxy proxy = new FaultProxy(server.port());
		RedissonClient near = RedissonClients.single(proxy.port());
		RedissonClient far = RedissonClients.single(server.port());
		return new RedisTestStore(server, proxy, RedisLockBackend.redisson(() -> near),
				RedisLockBackend.redisson(() -> far), () -> {
					RedissonClients.close(near);
					RedissonClients.close(far);
				});
	}

	@Override
	public LockBackend near() {
		return this.near;
	}

	@Override
	public LockBackend far() {
		return this.far;
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
	public void close() {
		this.closeClients.run();
		this.proxy.close();
	}

}
