package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.TimeoutException;

import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.holdfast.LockRequest;
import io.github.holdfast.store.Deadline;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link LettuceCall}: what becomes of a call that is over before it is sent.
 */
@Timeout(60)
class LettuceCallTests {

	private final RedisServer server = RedisServer.shared();

	private final RedisConnectionFactory connections = RedisConnections.lettuce(this.server.port());

	private final LockRequest request = RedisRequests.request("call:" + UUID.randomUUID(), Duration.ZERO);

	private final LockKey key = LockKey.of(this.request.key());

	@AfterEach
	void close() {
		RedisConnections.close(this.connections);
	}

	@Test
	void callThatHasRunOutOfTimeIsStillSent() throws Exception {
		assertThat(new RedisLockBackend(() -> this.connections).acquire(this.request)).isNotNull();
		LettuceCall call = release();
		call.completeExceptionally(new TimeoutException());
		call.send(commands());
		await().until(() -> this.server.command("EXISTS", this.key.lock()).equals(0L));
	}

	@Test
	void callThatWasCancelledIsNotSent() throws Exception {
		assertThat(new RedisLockBackend(() -> this.connections).acquire(this.request)).isNotNull();
		LettuceCall cancelled = release();
		cancelled.cancel(true);
		cancelled.send(commands());
		// What is sent later on the same connection is answered later
		assertThat(commands().exists(LockKey.bytes(this.key.lock())).get()).isEqualTo(1L);
	}

	private LettuceCall release() {
		return new LettuceCall(LockScript.RELEASE, this.key.keys(),
				new byte[][] { LockKey.bytes(this.request.owner()), LockKey.bytes(this.key.channel()) },
				Deadline.PASSED);
	}

	@SuppressWarnings("unchecked")
	private RedisClusterAsyncCommands<byte[], byte[]> commands() {
		return (RedisClusterAsyncCommands<byte[], byte[]>) this.connections.getConnection().getNativeConnection();
	}

}
