package io.github.holdfast.store.redis;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.holdfast.testsupport.RedisCluster;

/** The contract on a Redis Cluster of three masters, as the documented user. */
@Tag("long")
@Tag("night")
@ParameterizedClass
@EnumSource(RedisClientType.class)
class ClusterRedisLockBackendTests extends AbstractRedisLockBackendTests {

	private final RedisCluster cluster = RedisCluster.start();

	ClusterRedisLockBackendTests() {
		this.cluster.masters().forEach((master) -> {
			DocumentedUser.createForAllKeys(master);
			master.command("ACL", "SETUSER", DocumentedUser.NAME, "+cluster|nodes");
		});
	}

	@Override
	RedisNode connect(RedisClientType client) {
		return client.connect(this.cluster, DocumentedUser.NAME, DocumentedUser.PASSWORD);
	}

	@AfterAll
	void stop() {
		this.cluster.close();
	}

}
