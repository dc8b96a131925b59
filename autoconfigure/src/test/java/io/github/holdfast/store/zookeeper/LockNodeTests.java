package io.github.holdfast.store.zookeeper;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the names of nodes say.
 */
class LockNodeTests {

	@Test
	void nameTellsModeAndPlaceAndNothingElseIsTakenForOne() {
		List<LockNode> queue = LockNode.of(List.of("exclusive-a-1-1_0000000007", "shared-a_b-1-2_0000000012", "0",
				"lock-0000000001", "exclusive-a", "shared-a_x", "other-a-1-1_0000000001"));
		assertThat(queue).containsExactly(new LockNode("exclusive-a-1-1_0000000007", false, 7),
				new LockNode("shared-a_b-1-2_0000000012", true, 12));
	}

	/**
	 * A queue that is never empty for a minute keeps its numbers, and ZooKeeper goes on
	 * with negative ones after 2^31.
	 */
	@Test
	void orderSurvivesTheOverflowOfTheNumbers() {
		List<LockNode> queue = LockNode.of(List.of("exclusive-c_-2147483647", "exclusive-a_2147483647",
				"exclusive-b_-2147483648", "exclusive-before_2147483646"));
		assertThat(LockNode.first(queue, "")).hasFieldOrPropertyWithValue("name", "exclusive-before_2147483646");
		assertThat(queue.get(0).predecessor(queue)).isEqualTo(queue.get(2));
		assertThat(queue.get(2).predecessor(queue)).isEqualTo(queue.get(1));
		assertThat(queue.get(3).predecessor(queue)).isNull();
	}

	@Test
	@Tag("F45")
	@Tag("F46")
	void segmentsOfKeysAreOneLevelAndDiffer() {
		String common = "x".repeat(300);
		List<String> keys = List.of("a", "a/0", "a%2f0", "a%0", ".", "..", "%2e", "%2e.", "/", "%2f", "é", "%c3%a9",
				"\0", "%00", "\ud7ff\ue000", "📦", common + "a", common + "b", common);
		Set<String> segments = new HashSet<>();
		for (String key : keys) {
			String segment = LockPaths.segment(key);
			assertThat(segment).matches("[ -.0-~]+").isNotIn(".", "..");
			assertThat(segment.length()).isLessThanOrEqualTo(3 * 255);
			assertThat(segments.add(segment)).as(key).isTrue();
		}
		assertThat(LockPaths.segment("lock:inventory:SKU-1")).isEqualTo("lock:inventory:SKU-1");
		assertThat(LockPaths.segment("a/0")).isEqualTo("a%2f0");
	}

	@Test
	void eachPlaceHasAPrefixOfItsOwn() {
		var request = ZooKeeperRequests.request("A", Duration.ZERO);
		assertThat(LockNode.prefix(request, 1, 1)).startsWith("exclusive-" + request.owner())
			.isNotEqualTo(LockNode.prefix(request, 1, 2))
			.isNotEqualTo(LockNode.prefix(request, 2, 1));
		assertThat(LockNode.prefix(ZooKeeperRequests.shared("A", Duration.ZERO), 1, 1)).startsWith("shared-");
	}

}
