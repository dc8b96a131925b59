package io.github.holdfast.store.redis;

import io.github.holdfast.testsupport.RedisCluster;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisSentinels;
import io.github.holdfast.testsupport.RedissonClients;

/** The clients through which the backend reaches Redis. */
enum RedisClientType {

	LETTUCE, REDISSON;

	RedisNode connect(int port, String... user) {
		return (this == LETTUCE) ? RedisNode.lettuce(RedisConnections.lettuce(port, user))
				: RedisNode.redisson(RedissonClients.single(port, user));
	}

	RedisNode connect(RedisCluster cluster, String... user) {
		return (this == LETTUCE) ? RedisNode.lettuce(RedisConnections.lettuce(cluster, user))
				: RedisNode.redisson(RedissonClients.cluster(cluster, user));
	}

	RedisNode connect(RedisSentinels sentinels) {
		return (this == LETTUCE) ? RedisNode.lettuce(RedisConnections.lettuce(sentinels))
				: RedisNode.redisson(RedissonClients.sentinel(sentinels));
	}

}
