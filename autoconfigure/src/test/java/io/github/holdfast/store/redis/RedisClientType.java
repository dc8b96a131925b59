package io.github.holdfast.store.redis;

import io.github.holdfast.testsupport.RedisCluster;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisSentinels;
import io.github.holdfast.testsupport.RedissonClients;

/**
 * The clients through which the backend reaches Redis.
 */
enum RedisClientType {

	LETTUCE {

		@Override
		RedisNode connect(int port) {
			return RedisNode.lettuce(RedisConnections.lettuce(port));
		}

		@Override
		RedisNode connect(int port, String user, String password) {
			return RedisNode.lettuce(RedisConnections.lettuce(port, user, password));
		}

		@Override
		RedisNode connect(RedisSentinels sentinels) {
			return RedisNode.lettuce(RedisConnections.lettuce(sentinels));
		}

		@Override
		RedisNode connect(RedisCluster cluster) {
			return RedisNode.lettuce(RedisConnections.lettuce(cluster));
		}

		@Override
		RedisNode connect(RedisCluster cluster, String user, String password) {
			return RedisNode.lettuce(RedisConnections.lettuce(cluster, user, password));
		}

	},

	REDISSON {

		@Override
		RedisNode connect(int port) {
			return RedisNode.redisson(RedissonClients.single(port));
		}

		@Override
		RedisNode connect(int port, String user, String password) {
			return RedisNode.redisson(RedissonClients.single(port, user, password));
		}

		@Override
		RedisNode connect(RedisSentinels sentinels) {
			return RedisNode.redisson(RedissonClients.sentinel(sentinels));
		}

		@Override
		RedisNode connect(RedisCluster cluster) {
			return RedisNode.redisson(RedissonClients.cluster(cluster));
		}

		@Override
		RedisNode connect(RedisCluster cluster, String user, String password) {
			return RedisNode.redisson(RedissonClients.cluster(cluster, user, password));
		}

	};

	abstract RedisNode connect(int port);

	abstract RedisNode connect(int port, String user, String password);

	abstract RedisNode connect(RedisSentinels sentinels);

	abstract RedisNode connect(RedisCluster cluster);

	abstract RedisNode connect(RedisCluster cluster, String user, String password);

}
