package io.github.holdfast.store.zookeeper;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.junit.jupiter.api.Test;

import io.github.holdfast.LockMode;

import static org.assertj.core.api.Assertions.assertThat;

/** Names, paths and the order of nodes. */
class LockNodeTests {

	private static final String PROTECTION = "_c_3d0b1d0b-91c8-4a0e-a3a5-0f5a4e1fdc2e-";

	@Test
	void namesOfOtherKindsAreLeftOut() {
		String exclusive = PROTECTION + LockNode.name(LockMode.EXCLUSIVE) + "0000000012";
		String shared = PROTECTION + LockNode.name(LockMode.SHARED) + "0000000007";
		List<LockNode> queue = LockNode.queue(List.of(exclusive, shared, "0", "lock-0000000001", "exclusive_0000000001",
				PROTECTION + "exclusive_", PROTECTION + "other_0000000001"));
		assertThat(queue).containsExactly(new LockNode(shared, true, 7), new LockNode(exclusive, false, 12));
	}

	/** After 2^31, ZooKeeper goes on with negative numbers. */
	@Test
	void orderSurvivesTheOverflowOfTheNumbers() {
		List<LockNode> queue = LockNode.queue(List.of(PROTECTION + "exclusive_-2147483647",
				PROTECTION + "exclusive_2147483647", PROTECTION + "exclusive_-2147483648"));
		assertThat(queue).extracting(LockNode::sequence)
			.containsExactly(Integer.MAX_VALUE, Integer.MIN_VALUE, -Integer.MAX_VALUE);
		assertThat(queue.get(2).predecessor(queue)).isEqualTo(queue.get(1));
		assertThat(queue.get(0).predecessor(queue)).isNull();
	}

	@Test
	void readersWaitForWritersOnlyAndHoldTogether() {
		LockNode first = new LockNode("a", true, 1);
		LockNode second = new LockNode("b", true, 2);
		LockNode writer = new LockNode("c", false, 3);
		LockNode late = new LockNode("d", true, 4);
		List<LockNode> queue = List.of(first, second, writer, late);
		assertThat(LockNode.holders(queue)).containsExactly(first, second);
		assertThat(writer.predecessor(queue)).isEqualTo(second);
		assertThat(late.predecessor(queue)).isEqualTo(writer);
		assertThat(LockNode.holders(List.of(writer, late))).containsExactly(writer);
		assertThat(LockNode.holders(List.of())).isEmpty();
	}

	@Test
	void pathsOfKeysAreOneLevelAndDiffer() {
		String common = "x".repeat(300);
		List<String> keys = List.of("a", "a/0", "a%2f0", "a%0", ".", "..", "%2e", "%2e.", "/", "%2f", "é", "%c3%a9",
				"\0", "%00", "\ud7ff\ue000", "📦", "a b", "a+b", "a:b", common + "a", common + "b", common);
		Set<String> paths = new HashSet<>();
		for (String key : keys) {
			String path = LockNode.lock(key);
			assertThat(path).matches("/holdfast/locks/[-+%:*._0-9A-Za-z]+").doesNotContain("/.");
			assertThat(path.length()).isLessThan(800);
			assertThat(paths.add(path)).as(key).isTrue();
		}
		assertThat(LockNode.lock("holdfast:inventory:SKU-1")).isEqualTo("/holdfast/locks/holdfast:inventory:SKU-1");
	}

}
