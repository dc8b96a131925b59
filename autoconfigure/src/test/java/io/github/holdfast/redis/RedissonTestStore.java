package io.github.holdfast.redis;

import org.redisson.api.RedissonClient;

import io.github.holdfast.LockBackend;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedissonClients;
import io.github.holdfast.testsupport.TestStore;

/**
 * Redis through Redisson, as contracts see it.
 */
final class RedissonTestStore implements TestStore {

	private final RedisServer server;

	private final FaultProxy proxy;

	private final RedissonClient near;

	private final RedissonClient far;

	private final LockBackend nearBackend;

	private final LockBackend farBackend;

	RedissonTestStore(RedisServer server) {
		this.server = server;
		this.proxy = new FaultProxy(server.port());
		this.near = RedissonClients.single(this.proxy.port());
		this.far = RedissonClients.single(server.port());
		this.nearBackend = RedisLockBackend.redisson(() -> this.near);
		this.farBackend = RedisLockBackend.redisson(() -> this.far);
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
		RedissonClients.close(this.near);
		RedissonClients.close(this.far);
		this.proxy.close();
	}

}
