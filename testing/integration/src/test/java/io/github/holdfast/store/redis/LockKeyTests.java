package io.github.holdfast.store.redis;

import java.util.List;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.data.redis.connection.ClusterSlotHashUtil;

import io.github.holdfast.testsupport.RedisCluster;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link LockKey}.
 */
class LockKeyTests {

	@Test
	void namesAreReadable() {
		assertThat(LockKey.of("lock:inventory:SKU-1")).isEqualTo(new LockKey("{lock:inventory:SKU-1}",
				"{lock:inventory:SKU-1}:epoch", "{lock:inventory:SKU-1}:queue", "{lock:inventory:SKU-1}:tickets",
				"{lock:inventory:SKU-1}:sharing", "{lock:inventory:SKU-1}:released"));
	}

	@Test
	@Tag("F47")
	void bracesAreNotMixedUp() {
		assertThat(List.of("a", "{a", "a}", "{a}", "}a", "a%7d", "{}", "}{").stream().map(LockKey::of))
			.doesNotHaveDuplicates()
			.first()
			.isEqualTo(new LockKey("{a}", "{a}:epoch", "{a}:queue", "{a}:tickets", "{a}:sharing", "{a}:released"));
		assertThat(LockKey.of("a}").lock()).isEqualTo("{a%7d}");
		assertThat(LockKey.of("a%7d").lock()).isEqualTo("{a%257d}");
	}

	@ParameterizedTest
	@Tag("F47")
	@ValueSource(strings = { "lock:a", "{", "}", "{}", "}{", "}a", "a}b{c", "{a}b", " ", "\r\n", "仓库" })
	void allNamesAreInOneSlot(String key) {
		LockKey names = LockKey.of(key);
		assertThat(List.of(names.counter(), names.queue(), names.tickets(), names.channel())
			.stream()
			.map(ClusterSlotHashUtil::calculateSlot)).containsOnly(ClusterSlotHashUtil.calculateSlot(names.lock()));
	}

	@Test
	@Tag("F47")
	void slotsOfAServerAreTheSame() {
		try (RedisCluster cluster = RedisCluster.start()) {
			for (String key : List.of("lock:a", "}", "{}", "}{", "a}b{c", "\r\n", "x".repeat(1000))) {
				LockKey names = LockKey.of(key);
				assertThat(cluster.masters().get(0).command("CLUSTER", "KEYSLOT", names.counter()))
					.isEqualTo(cluster.masters().get(0).command("CLUSTER", "KEYSLOT", names.lock()));
			}
		}
	}

	@Test
	void longKeysHaveAnEnd() {
		String key = "lock:" + "x".repeat(10_000);
		assertThat(LockKey.of(key).lock()).hasSize(514).startsWith("{lock:xxx");
		assertThat(LockKey.of(key)).isNotEqualTo(LockKey.of(key + "x"));
	}

}
