package io.github.holdfast.store.redis;

import java.util.Set;

import io.github.holdfast.ManageableLockBackend;
import io.github.holdfast.store.redis.LockScript.LockKey;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.TestStore;

/** Redis, through one of its clients, as contracts see it. */
final class RedisTestStore implements TestStore {

	private final RedisServer server;

	private final FaultProxy proxy;

	private final RedisNode near;

	private final RedisNode far;

	RedisTestStore(RedisServer server, RedisClientType client) {
		this.server = server;
		this.proxy = new FaultProxy(server.port());
		this.near = client.connect(this.proxy.port());
		this.far = client.connect(server.port());
	}

	RedisNode nearNode() {
		return this.near;
	}

	@Override
	public ManageableLockBackend near() {
		return this.near.backend();
	}

	@Override
	public ManageableLockBackend far() {
		return this.far.backend();
	}

	@Override
	public FaultProxy proxy() {
		return this.proxy;
	}

	@Override
	public boolean isHeld(String key) {
		return this.server.command("EXISTS", key).equals(1L);
	}

	@Override
	public boolean isWaitedFor(String key) {
		return this.server.command("PUBSUB", "NUMSUB", LockKey.of(key).channel()).toString().endsWith(" 1]");
	}

	/** With its last owner, who may release a free lock as often as he likes. */
	@Override
	public void remove(String key) {
		this.server.command("DEL", key, LockKey.of(key).names().get(1));
	}

	@Override
	public Set<Told> told() {
		return Set.of(Told.SINCE, Told.EXPIRES);
	}

	@Override
	public void close() {
		this.near.close();
		this.far.close();
		this.proxy.close();
	}

}
