package io.github.holdfast.redis;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.holdfast.LockBackend;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.TestStore;

/**
 * Redis through Lettuce, as contracts see it.
 */
final class RedisTestStore implements TestStore {

	private final RedisServer server;

	private final FaultProxy proxy;

	private final RedisConnectionFactory near;

	private final RedisConnectionFactory far;

	private final LockBackend nearBackend;

	private final LockBackend farBackend;

	RedisTestStore(RedisServer server) {
		this.server = server;
		this.proxy = new FaultProxy(server.port());
		this.near = RedisConnections.lettuce(this.proxy.port());
		this.far = RedisConnections.lettuce(server.port());
		this.nearBackend = new RedisLockBackend(() -> this.near);
		this.farBackend = new RedisLockBackend(() -> this.far);
	}

	@Override
	public LockBackend near() {
		return this.nearBackend;
	}

	@Override
	public LockBackend far() {
		return this.farBackend;
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
		RedisConnections.close(this.near);
		RedisConnections.close(this.far);
		this.proxy.close();
	}

}
