package io.github.holdfast.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisQuorum;
import io.github.holdfast.testsupport.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Several leases that are extended together.
 */
@Timeout(120)
@Tag("F76")
class JointRedisRenewalTests {

	private static final Duration SHORT = Duration.ofSeconds(30);

	private static final Duration LONG = Duration.ofMinutes(10);

	private final String key = "joint:" + UUID.randomUUID() + ":";

	@Test
	void leasesAreRenewedInOneRoundTripWithLettuce() throws Exception {
		try (FaultProxy proxy = new FaultProxy(RedisServer.shared().port())) {
			assertOneRoundTrip(proxy, RedisConnections.lettuce(proxy.port()));
		}
	}

	@Test
	void leasesAreRenewedInOneRoundTripWithJedis() throws Exception {
		try (FaultProxy proxy = new FaultProxy(RedisServer.shared().port())) {
			assertOneRoundTrip(proxy, RedisConnections.jedis(proxy.port()));
		}
	}

	/**
	 * The first answer does not pass before Redis has worked on all requests.
	 */
	private void assertOneRoundTrip(FaultProxy proxy, RedisConnectionFactory connections) throws Exception {
		try {
			RedisLockBackend backend = new RedisLockBackend(() -> connections);
			List<LockLease> leases = acquire(backend, backend.renewedTogether());
			assertThat(leases).hasSizeGreaterThan(20);
			proxy.beforeReply(() -> await().until(() -> leases.stream().allMatch(JointRedisRenewalTests::isExtended)));
			assertThat(backend.renewAll(leases, LONG)).allMatch(JointRedisRenewalTests::isYes);
		}
		finally {
			RedisConnections.close(connections);
		}
	}

	@Test
	void oneThatIsLostAndOneThatFailsDoNotTouchTheOthersWithLettuce() throws Exception {
		assertIndependent(RedisConnections.lettuce(RedisServer.shared().port()));
	}

	@Test
	void oneThatIsLostAndOneThatFailsDoNotTouchTheOthersWithJedis() throws Exception {
		assertIndependent(RedisConnections.jedis(RedisServer.shared().port()));
	}

	private void assertIndependent(RedisConnectionFactory connections) throws Exception {
		try {
			assertIndependent(new RedisLockBackend(() -> connections), List.of(RedisServer.shared()));
		}
		finally {
			RedisConnections.close(connections);
		}
	}

	@Test
	void oneThatIsLostAndOneThatFailsDoNotTouchTheOthersOfAQuorum() throws Exception {
		try (RedisQuorum servers = new RedisQuorum()) {
			RedisConnectionFactory settings = RedisConnections.lettuce(servers.server(0).port());
			try (RedisQuorumNodes nodes = RedisQuorumNodes.of(settings, servers.nodes())) {
				assertIndependent(new RedisQuorumLockBackend(nodes), servers.servers());
			}
			finally {
				RedisConnections.close(settings);
			}
		}
	}

	private void assertIndependent(LockBackend backend, List<RedisServer> servers) throws Exception {
		List<LockLease> leases = acquire(backend, 5);
		leases.get(0).release().toCompletableFuture().join();
		for (RedisServer server : servers) {
			server.command("DEL", lock(leases.get(1)));
			server.command("SET", lock(leases.get(3)), "something else");
		}
		List<CompletionStage<Boolean>> renewed = backend.renewAll(leases, LONG);
		assertThat(renewed).hasSize(5);
		assertThat(isYes(renewed.get(0))).isFalse();
		assertThat(isYes(renewed.get(1))).isFalse();
		assertThat(isYes(renewed.get(2))).isTrue();
		renewed.get(3).handle((answer, ex) -> {
			assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> {
				throw ex;
			}).withMessageContaining(leases.get(3).key());
			return answer;
		}).toCompletableFuture().join();
		assertThat(isYes(renewed.get(4))).isTrue();
		assertThat(leases).extracting(LockLease::isValid).containsExactly(false, false, true, true, true);
		assertThat(leases.get(2).remaining()).isGreaterThan(SHORT);
		assertThat(leases.get(3).remaining()).isLessThan(SHORT);
	}

	@Test
	void leasesOnARedisThatIsGoneKeepWhatTheyHave() throws Exception {
		try (FaultProxy proxy = new FaultProxy(RedisServer.shared().port())) {
			RedisConnectionFactory connections = RedisConnections.jedis(proxy.port());
			try {
				RedisLockBackend backend = new RedisLockBackend(() -> connections);
				List<LockLease> leases = acquire(backend, 3);
				proxy.inject(FaultProxy.Fault.REFUSE);
				proxy.reset();
				AtomicBoolean failed = new AtomicBoolean();
				assertThat(backend.renewAll(leases, LONG)).hasSize(3).allMatch((answer) -> {
					answer.whenComplete((renewed, ex) -> failed.set(ex instanceof LockBackendException));
					return failed.getAndSet(false);
				});
				assertThat(leases).allMatch(LockLease::isValid);
			}
			finally {
				RedisConnections.close(connections);
			}
		}
	}

	private List<LockLease> acquire(LockBackend backend, int number) throws InterruptedException {
		List<LockLease> leases = new ArrayList<>();
		for (int i : IntStream.range(0, number).toArray()) {
			leases.add(backend.acquire(RedisRequests.request(this.key + i, Duration.ZERO, SHORT)));
		}
		assertThat(leases).doesNotContainNull();
		return leases;
	}

	private static boolean isExtended(LockLease lease) {
		return (Long) RedisServer.shared().command("PTTL", lock(lease)) > SHORT.toMillis();
	}

	private static boolean isYes(CompletionStage<Boolean> answer) {
		return answer.toCompletableFuture().join();
	}

	private static String lock(LockLease lease) {
		return LockKey.of(lease.key()).lock();
	}

}
