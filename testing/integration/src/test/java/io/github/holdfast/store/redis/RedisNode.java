package io.github.holdfast.store.redis;

import org.redisson.api.RedissonClient;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedissonClients;

/**
 * A node with a client of its own.
 *
 * @param backend its backend
 * @param disconnect closes the client
 */
record RedisNode(RedisLockBackend backend, Runnable disconnect) implements AutoCloseable {

	static RedisNode lettuce(RedisConnectionFactory connections) {
		return new RedisNode(new RedisLockBackend(() -> connections), () -> RedisConnections.close(connections));
	}

	static RedisNode redisson(RedissonClient client) {
		return new RedisNode(RedisLockBackend.redisson(() -> client), () -> RedissonClients.close(client));
	}

	@Override
	public void close() {
		this.backend.close();
		this.disconnect.run();
	}

}
