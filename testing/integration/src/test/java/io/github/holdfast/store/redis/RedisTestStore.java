package io.github.holdfast.store.redis;

import java.util.Set;

import io.github.holdfast.store.redis.LockScript.LockKey;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.TestStore;

/** Redis, through one of its clients, as contracts see it. */
final class RedisTestStore extends TestStore<RedisNode> {

	private final RedisServer server;

	RedisTestStore(RedisServer server, RedisClientType client) {
		super(server.port(), (port) -> client.connect(port), RedisNode::backend);
		this.server = server;
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

}
