package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.exceptions.JedisException;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.store.Requests;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisQuorum;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedissonClients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** What becomes of requests that Redis refuses because it is not ready. */
@Timeout(180)
@Tag("long")
class UnreadyRedisTests {

	private static final Duration LONG = Requests.LONG;

	private final String key = "unready:" + UUID.randomUUID();

	@ParameterizedTest
	@EnumSource
	void lettuceGetsTheLockWhenRedisIsReady(Unreadiness unreadiness) throws Exception {
		try (RedisServer server = unreadiness.start();
				FaultProxy proxy = new FaultProxy(server.port());
				RedisNode node = RedisClientType.LETTUCE.connect(proxy.port())) {
			assertLockIsGrantedWhenReady(node, unreadiness, server, proxy);
		}
	}

	@ParameterizedTest
	@EnumSource
	void redissonGetsTheLockWhenRedisIsReady(Unreadiness unreadiness) throws Exception {
		try (RedisServer server = unreadiness.start();
				FaultProxy proxy = new FaultProxy(server.port());
				RedisNode node = redissonWithoutRepetitions(proxy.port())) {
			assertLockIsGrantedWhenReady(node, unreadiness, server, proxy);
		}
	}

	private void assertLockIsGrantedWhenReady(RedisNode node, Unreadiness unreadiness, RedisServer server,
			FaultProxy proxy) throws Exception {
		release(node.acquired(Requests.request("connected", LONG)));
		unreadiness.begin(server);
		AtomicBoolean refused = new AtomicBoolean();
		proxy.beforeReply(() -> {
			if (refused.compareAndSet(false, true)) {
				unreadiness.end(server);
			}
		});
		release(node.acquired(Requests.request(this.key, LONG)));
		assertThat(refused).isTrue();
	}

	@Test
	void singleAttemptFailsWhileRedisIsNotReady() throws Exception {
		try (RedisServer server = RedisServer.start();
				RedisNode lettuce = RedisClientType.LETTUCE.connect(server.port());
				RedisNode redisson = redissonWithoutRepetitions(server.port())) {
			Unreadiness.READONLY.begin(server);
			for (RedisNode node : List.of(lettuce, redisson)) {
				assertThatExceptionOfType(LockBackendException.class)
					.isThrownBy(() -> node.backend().acquire(Requests.request(this.key, Requests.NO_WAIT)))
					.havingRootCause()
					.withMessageContaining("READONLY");
			}
		}
	}

	@Test
	void quorumGetsTheLockWhenAMajorityIsReady() throws Exception {
		LettuceConnectionFactory settings = RedisConnections.lettuce(1);
		try (RedisQuorum servers = new RedisQuorum();
				RedisQuorumLockBackend backend = new RedisQuorumLockBackend(settings, servers.nodes())) {
			release(backend.acquire(Requests.request("connected", LONG)));
			List<RedisServer> majority = servers.servers().subList(0, 2);
			majority.forEach(Unreadiness.READONLY::begin);
			assertThatExceptionOfType(LockBackendException.class)
				.isThrownBy(() -> backend.acquire(Requests.request(this.key, Requests.NO_WAIT)))
				.havingRootCause()
				.withMessageContaining("READONLY");
			AtomicBoolean refused = new AtomicBoolean();
			servers.proxy(0).beforeReply(() -> {
				if (refused.compareAndSet(false, true)) {
					majority.forEach(Unreadiness.READONLY::end);
				}
			});
			release(backend.acquire(Requests.request(this.key + "2", LONG)));
			assertThat(refused).isTrue();
		}
		finally {
			RedisConnections.close(settings);
		}
	}

	/** With one connection. */
	private static RedisNode redissonWithoutRepetitions(int port) {
		return RedisNode.redisson(RedissonClients.create((config) -> config.useSingleServer()
			.setAddress("redis://127.0.0.1:" + port)
			.setConnectionMinimumIdleSize(1)
			.setConnectionPoolSize(1)
			.setPingConnectionInterval(0)
			.setRetryAttempts(0)));
	}

	private static void release(LockBackend.Lease lease) throws Exception {
		assertThat(lease).isNotNull();
		assertThat(RedisNode.release(lease)).isTrue();
	}

	/** Why Redis refuses requests; its answer begins with the name. */
	enum Unreadiness {

		/** It has become a replica. */
		READONLY("REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE"),

		/** It is a replica that has lost its master. */
		MASTERDOWN("REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE"),

		/** It has too few replicas. */
		NOREPLICAS("CONFIG SET min-replicas-to-write 1", "CONFIG SET min-replicas-to-write 0"),

		/** Somebody's script does not end. */
		BUSY("CONFIG SET lua-time-limit 1", "SCRIPT KILL"),

		/** It is the only one of a Cluster, and has no slots. */
		CLUSTERDOWN("CLUSTER DELSLOTS" + slots(), "CLUSTER ADDSLOTS" + slots());

		private final String[] begin;

		private final String[] end;

		Unreadiness(String begin, String end) {
			this.begin = begin.split(" ");
			this.end = end.split(" ");
		}

		private static String slots() {
			return IntStream.range(0, 16_384).mapToObj((slot) -> " " + slot).collect(Collectors.joining());
		}

		/** Starts a server that is ready. */
		public RedisServer start() {
			if (this != CLUSTERDOWN) {
				return RedisServer.start();
			}
			RedisServer server = RedisServer.start("--cluster-enabled", "yes");
			end(server);
			await().until(() -> server.command("CLUSTER", "INFO").toString().contains("cluster_state:ok"));
			return server;
		}

		public void begin(RedisServer server) {
			if (this == MASTERDOWN) {
				server.command("CONFIG", "SET", "replica-serve-stale-data", "no");
			}
			server.command(this.begin);
			if (this == BUSY) {
				Thread script = new Thread(() -> refuses(server, "EVAL", "while true do end", "0"));
				script.setDaemon(true);
				script.start();
				await().until(() -> refuses(server, "GET", "any"));
			}
		}

		private static boolean refuses(RedisServer server, String... command) {
			try {
				return !server.command(command).equals("(nil)");
			}
			catch (JedisException ex) {
				// It is busy, or the script was killed
				return true;
			}
		}

		public void end(RedisServer server) {
			server.command(this.end);
		}

	}

}
