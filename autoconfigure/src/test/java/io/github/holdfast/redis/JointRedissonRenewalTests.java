package io.github.holdfast.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletionStage;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.redisson.api.RedissonClient;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedissonClients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Several leases that are extended together.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
@Tag("F76")
class JointRedissonRenewalTests {

	private static final Duration SHORT = Duration.ofSeconds(30);

	private static final Duration LONG = Duration.ofMinutes(10);

	private final RedisServer server = RedisServer.shared();

	private final FaultProxy proxy = new FaultProxy(this.server.port());

	/** With all connections open that are needed. */
	private final RedissonClient client = RedissonClients.create((config) -> config.useSingleServer()
		.setAddress("redis://127.0.0.1:" + this.proxy.port())
		.setConnectionMinimumIdleSize(16)
		.setConnectionPoolSize(16)
		.setPingConnectionInterval(0));

	private final RedisLockBackend backend = RedisLockBackend.redisson(() -> this.client);

	@AfterAll
	void close() {
		RedissonClients.close(this.client);
		this.proxy.close();
	}

	/**
	 * The first answer does not pass before Redis has worked on all requests.
	 */
	@Test
	void leasesAreRenewedAtTheSameTime() throws Exception {
		List<LockLease> leases = acquire(8);
		this.proxy.beforeReply(() -> await().until(() -> leases.stream().allMatch(this::isExtended)));
		try {
			assertThat(this.backend.renewAll(leases, LONG)).allMatch(JointRedissonRenewalTests::isYes);
		}
		finally {
			this.proxy.beforeReply(() -> {
			});
		}
	}

	@Test
	void oneThatIsLostAndOneThatFailsDoNotTouchTheOthers() throws Exception {
		List<LockLease> leases = acquire(4);
		this.server.command("DEL", lock(leases.get(0)));
		this.server.command("SET", lock(leases.get(2)), "something else");
		List<CompletionStage<Boolean>> renewed = this.backend.renewAll(leases, LONG);
		assertThat(isYes(renewed.get(0))).isFalse();
		assertThat(isYes(renewed.get(1))).isTrue();
		renewed.get(2).handle((answer, ex) -> {
			assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> {
				throw ex;
			}).withMessageContaining(leases.get(2).key());
			return answer;
		}).toCompletableFuture().join();
		assertThat(isYes(renewed.get(3))).isTrue();
		assertThat(leases).extracting(LockLease::isValid).containsExactly(false, true, true, true);
		assertThat(leases.get(2).remaining()).isLessThan(SHORT);
		assertThat(leases.get(3).remaining()).isGreaterThan(SHORT);
	}

	private List<LockLease> acquire(int number) throws InterruptedException {
		String key = "joint:" + UUID.randomUUID() + ":";
		List<LockLease> leases = new ArrayList<>();
		for (int i = 0; i < number; i++) {
			leases.add(this.backend.acquire(RedisRequests.request(key + i, Duration.ZERO, SHORT)));
		}
		assertThat(leases).doesNotContainNull();
		return leases;
	}

	private boolean isExtended(LockLease lease) {
		return (Long) this.server.command("PTTL", lock(lease)) > SHORT.toMillis();
	}

	private static boolean isYes(CompletionStage<Boolean> answer) {
		return answer.toCompletableFuture().join();
	}

	private static String lock(LockLease lease) {
		return LockKey.of(lease.key()).lock();
	}

}
