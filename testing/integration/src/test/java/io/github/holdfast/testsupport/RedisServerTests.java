package io.github.holdfast.testsupport;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.exceptions.JedisConnectionException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link RedisServer}, {@link RedisCluster} and {@link RedisSentinels}.
 */
@Timeout(180)
class RedisServerTests {

	@Test
	void serverAnswers() {
		assertThat(RedisServer.shared().info("redis_version")).startsWith("6.2.");
		assertThat(RedisServer.shared().command("SET", "één", "€")).isEqualTo("OK");
		assertThat(RedisServer.shared().command("MGET", "één", "none")).isEqualTo(List.of("€", "(nil)"));
	}

	@Test
	void closedServerIsGone() {
		RedisServer server = RedisServer.start();
		long pid = server.pid();
		server.close();
		assertThat(ProcessHandle.of(pid).filter(ProcessHandle::isAlive)).isEmpty();
		assertThatExceptionOfType(JedisConnectionException.class).isThrownBy(() -> server.command("PING"));
	}

	@Test
	void restartedServerIsEmpty() {
		try (RedisServer server = RedisServer.start()) {
			server.command("SET", "a", "b");
			server.restart();
			assertThat(server.command("GET", "a")).isEqualTo("(nil)");
		}
	}

	@Test
	void restartedPersistentServerIsTheSame() {
		try (RedisServer server = RedisServer.startPersistent()) {
			server.command("SET", "a", "b");
			server.restart();
			assertThat(server.command("GET", "a")).isEqualTo("b");
		}
	}

	@Test
	void wrongSettingIsTold() {
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> RedisServer.start("--flux", "yes"))
			.withMessageContaining("flux");
	}

	@Test
	void clusterHasAllSlots() {
		try (RedisCluster cluster = RedisCluster.start()) {
			assertThat(cluster.masters()).hasSize(3)
				.allSatisfy((master) -> assertThat(master.command("CLUSTER", "INFO").toString())
					.contains("cluster_slots_ok:16384"));
			assertThat(cluster.nodes()).hasSize(3);
		}
	}

	@Test
	void sentinelsPromoteTheReplica() {
		try (RedisSentinels sentinels = RedisSentinels.start()) {
			RedisServer replica = sentinels.replica();
			assertThat(sentinels.master()).isNotSameAs(replica);
			sentinels.failOver();
			assertThat(sentinels.master()).isSameAs(replica);
			assertThat(replica.command("SET", "a", "b")).isEqualTo("OK");
		}
	}

}
