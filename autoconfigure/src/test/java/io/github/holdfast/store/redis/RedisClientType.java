package io.github.holdfast.store.redis;

import io.github.holdfast.testsupport.RedisCluster;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisSentinels;
import io.github.holdfast.testsupport.RedissonClients;

/** The clients through which the backend reaches Redis. */
enum RedisClientType {

	LETTUCE, REDISSON;

	RedisNode connect(int port) {
		return (this == LETTUCE) ? RedisNode.lettuce(RedisConnections.lettuce(port))
				: RedisNode.redisson(RedissonClients.single(port));
	}

	RedisNode connect(int port, String user, String password) {
		return (this == LETTUCE) ? RedisNode.lettuce(RedisConnections.lettuce(port, user, password))
				: RedisNode.redisson(RedissonClients.single(port, user, password));
	}

	RedisNode connect(RedisSentinels sentinels) {
		return (this == LETTUCE) ? RedisNode.lettuce(RedisConnections.lettuce(sentinels))
				: RedisNode.redisson(RedissonClients.sentinel(sentinels));
	}

	RedisNode connect(RedisCluster cluster) {
		return (this == LETTUCE) ? RedisNode.lettuce(RedisConnections.lettuce(cluster))
				: RedisNode.redisson(RedissonClients.cluster(cluster));
	}

	RedisNode connect(RedisCluster cluster, String user, String password) {
		return (this == LETTUCE) ? RedisNode.lettuce(RedisConnections.lettuce(cluster, user, password))
				: RedisNode.redisson(RedissonClients.cluster(cluster, user, password));
	}

}
