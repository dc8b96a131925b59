package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.UUID;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.redisson.api.RedissonClient;

import io.github.holdfast.LockLease;
import io.github.holdfast.store.GrantedLease;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedissonClients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Waiters that Redis does not know of, as they cannot listen: a JVM that cannot either
 * takes nobody's silence for a proof that nobody waits.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
@Tag("F75")
class DeafRedissonWaitersTests {

	private static final Duration LONG = Duration.ofSeconds(60);

	private final String key = "deaf:" + UUID.randomUUID();

	private final RedisServer server = RedisServer.start();

	@BeforeAll
	void createUser() {
		this.server.command("ACL", "SETUSER", "mute", "on", ">secret", "~*", "allchannels", "+@all", "-subscribe");
	}

	@AfterAll
	void stop() {
		this.server.close();
	}

	@Test
	void silenceIsAProofOnceThisJvmHasListened() throws Exception {
		RedissonClient client = RedissonClients.single(this.server.port());
		try {
			RedisLockBackend backend = RedisLockBackend.redisson(() -> client);
			LockLease lease = acquired(backend);
			await().until(() -> !othersWait(lease));
			assertThat(lease.release().toCompletableFuture().join()).isTrue();
			assertThat(othersWait(lease)).isFalse();
			assertThat(backend.noticeTime()).isLessThan(Duration.ofMillis(50));
			await().until(() -> this.server.command("PUBSUB", "CHANNELS").toString().equals("[]"));
		}
		finally {
			RedissonClients.close(client);
		}
	}

	@Test
	void silenceIsNoProofForAUserWhoMayNotListen() throws Exception {
		RedissonClient client = RedissonClients.single(this.server.port(), "mute", "secret");
		try {
			RedisLockBackend backend = RedisLockBackend.redisson(() -> client);
			LockLease lease = acquired(backend);
			assertThat(othersWait(lease)).isTrue();
			await().atMost(LONG).until(() -> backend.noticeTime().equals(Duration.ofMillis(100)));
			assertThat(othersWait(lease)).isTrue();
			assertThat(lease.release().toCompletableFuture().join()).isTrue();
			assertThat(othersWait(lease)).isTrue();
		}
		finally {
			RedissonClients.close(client);
		}
	}

	private LockLease acquired(RedisLockBackend backend) throws InterruptedException {
		LockLease lease = backend.acquire(RedisRequests.request(this.key, LONG));
		assertThat(lease).isNotNull();
		return lease;
	}

	private static boolean othersWait(LockLease lease) {
		return ((GrantedLease) lease).othersWait().toCompletableFuture().join();
	}

}
