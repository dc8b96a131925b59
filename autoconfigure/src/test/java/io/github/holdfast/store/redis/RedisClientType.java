package io.github.holdfast.store.redis;

import io.github.holdfast.testsupport.RedisConnections;
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

	};

	abstract RedisNode connect(int port);

	abstract RedisNode connect(int port, String user, String password);

}
