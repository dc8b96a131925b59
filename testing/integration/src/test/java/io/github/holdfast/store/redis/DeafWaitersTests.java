package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.UUID;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.holdfast.LockLease;
import io.github.holdfast.store.GrantedLease;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Waiters that Redis does not know of, as they cannot listen: a JVM that cannot either
 * takes nobody's silence for a proof that nobody waits.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
@Tag("F75")
class DeafWaitersTests {

	private static final Duration LONG = Duration.ofSeconds(60);

	private static final String USER = "mute";

	private final String key = "deaf:" + UUID.randomUUID();

	private final RedisServer server = RedisServer.start();

	@BeforeAll
	void createUser() {
		this.server.command("ACL", "SETUSER", USER, "on", ">secret", "~*", "allchannels", "+@all", "-subscribe");
	}

	@AfterAll
	void stop() {
		this.server.close();
	}

	@Test
	void silenceIsAProofOnceThisJvmHasListened() throws Exception {
		run(RedisConnections.lettuce(this.server.port()), (backend) -> {
			LockLease lease = acquired(backend);
			await().until(() -> !othersWait(lease));
			assertThat(lease.release().toCompletableFuture().join()).isTrue();
			assertThat(othersWait(lease)).isFalse();
			assertThat(backend.noticeTime()).isLessThan(Duration.ofMillis(50));
			assertThat(this.server.command("PUBSUB", "CHANNELS").toString()).isEqualTo("[]");
		});
	}

	@Test
	void silenceIsNoProofForAUserWhoMayNotListen() throws Exception {
		assertUnknown(RedisConnections.lettuce(this.server.port(), USER, "secret"));
	}

	@Test
	void silenceIsNoProofForAClientThatCannotListen() throws Exception {
		assertUnknown(RedisConnections.masterReplica(this.server.port()));
	}

	/**
	 * Waiters then notice a release as late as those who only ask.
	 */
	private void assertUnknown(LettuceConnectionFactory connections) throws Exception {
		run(connections, (backend) -> {
			LockLease lease = acquired(backend);
			assertThat(othersWait(lease)).isTrue();
			await().until(() -> backend.noticeTime().equals(Duration.ofMillis(100)));
			assertThat(othersWait(lease)).isTrue();
			assertThat(backend.acquire(RedisRequests.request(this.key, Duration.ofMillis(50)))).isNull();
			assertThat(othersWait(lease)).isTrue();
			assertThat(lease.release().toCompletableFuture().join()).isTrue();
			assertThat(othersWait(lease)).isTrue();
		});
	}

	private LockLease acquired(RedisLockBackend backend) throws InterruptedException {
		LockLease lease = backend.acquire(RedisRequests.request(this.key, LONG));
		assertThat(lease).isNotNull();
		return lease;
	}

	private static boolean othersWait(LockLease lease) {
		return ((GrantedLease) lease).othersWait().toCompletableFuture().join();
	}

	private static void run(RedisConnectionFactory connections, Body body) throws Exception {
		try {
			body.run(new RedisLockBackend(() -> connections));
		}
		finally {
			RedisConnections.close(connections);
		}
	}

	@FunctionalInterface
	private interface Body {

		void run(RedisLockBackend backend) throws Exception;

	}

}
