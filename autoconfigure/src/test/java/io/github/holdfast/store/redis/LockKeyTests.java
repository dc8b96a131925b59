package io.github.holdfast.store.redis;

import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.data.redis.connection.ClusterSlotHashUtil;

import io.github.holdfast.store.redis.LockScript.LockKey;

import static org.assertj.core.api.Assertions.assertThat;

class LockKeyTests {

	@Test
	void lockHasTheNamesOfRedisson() {
		assertThat(LockKey.of("lock:SKU-1").names()).containsExactly("lock:SKU-1", "holdfast_epoch:{lock:SKU-1}",
				"holdfast_queue:{lock:SKU-1}", "holdfast_tickets:{lock:SKU-1}", "holdfast_sharers:{lock:SKU-1}",
				"redisson_lock__channel:{lock:SKU-1}");
		assertThat(LockKey.of("lock:{SKU}:1").names()).startsWith("lock:{SKU}:1", "holdfast_epoch:lock:{SKU}:1")
			.endsWith("redisson_lock__channel:lock:{SKU}:1");
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "lock:a", "{", "}", "{}", "{}a", "}{", "}a", "a}b{c", "{a}b", "{a}{b}", "a}{b}", "a b", "仓库" })
	void allNamesAreInOneSlot(String key) {
		assertThat(LockKey.of(key).names().stream().map(ClusterSlotHashUtil::calculateSlot).distinct()).hasSize(1);
	}

	@Test
	void keysThatAreNotStoredAsTheyAreDiffer() {
		String common = "x".repeat(10_000);
		assertThat(Stream.of("a", "a}", "a}}", "{}a", "a{}", "}{", common, common + "x", common + "}").map(LockKey::of))
			.doesNotHaveDuplicates();
		assertThat(List.of(LockKey.of("a}"), LockKey.of(common)))
			.allSatisfy((names) -> assertThat(names.names().get(0)).hasSize("holdfast:{}".length() + 64)
				.startsWith("holdfast:{"));
	}

}
