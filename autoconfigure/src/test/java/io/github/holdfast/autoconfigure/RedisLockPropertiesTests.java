package io.github.holdfast.autoconfigure;

import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link LockProperties.Redis}.
 */
class RedisLockPropertiesTests {

	@Test
	void passwordsOfTheNodesAreNotShown() {
		LockProperties.Redis.Quorum quorum = new LockProperties.Redis.Quorum(
				List.of("rediss://user:secret@redis-1:6379", "redis-2", "redis-3"));
		assertThat(new LockProperties.Redis(quorum).toString()).contains("nodes=3").doesNotContain("secret");
	}

}
