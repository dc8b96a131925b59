package io.github.holdfast.store.redis;

import java.io.Closeable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.redisson.api.RedissonClient;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockRequest;
import io.github.holdfast.store.Requests;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedissonClients;
import io.github.holdfast.testsupport.Threads;

import static org.assertj.core.api.Assertions.assertThat;

/** An application with its own client of Redis. */
record RedisNode(RedisDriver driver, RedisLockBackend backend, Runnable disconnect) implements Closeable {

	static RedisNode lettuce(LettuceConnectionFactory connections) {
		return new RedisNode(new LettuceDriver(connections), new RedisLockBackend(() -> connections),
				() -> RedisConnections.close(connections));
	}

	static RedisNode redisson(RedissonClient client) {
		return new RedisNode(new RedissonDriver(client), RedisLockBackend.redisson(() -> client),
				() -> RedissonClients.close(client));
	}

	LockBackend.Lease acquired(LockRequest request) throws InterruptedException {
		LockBackend.Lease lease = this.backend.acquire(request);
		assertThat(lease).isNotNull();
		return lease;
	}

	FutureTask<LockBackend.@Nullable Lease> waiter(LockRequest request) {
		return Threads.start(() -> this.backend.acquire(request));
	}

	static boolean release(LockBackend.Lease lease) throws Exception {
		return answer(lease.release());
	}

	static boolean renew(LockBackend.Lease lease) throws Exception {
		return answer(lease.renew(Requests.LONG));
	}

	private static boolean answer(CompletionStage<Boolean> stage) throws Exception {
		CompletableFuture<Boolean> answer = stage.toCompletableFuture();
		return answer.get(30, TimeUnit.SECONDS);
	}

	@Override
	public void close() {
		this.disconnect.run();
	}

}
