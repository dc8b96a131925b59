package io.github.holdfast.store.zookeeper;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockMode;
import io.github.holdfast.store.LockKeys;

/**
 * A place in the queue of a lock: an ephemeral sequential node below the node of the
 * lock.
 *
 * @param name the name of the node
 * @param shared whether other shared places may hold the lock beside it
 * @param sequence the number that ZooKeeper has given it
 */
record LockNode(String name, boolean shared, int sequence) {

	private static final String LOCKS = "/holdfast/locks/";

	private static final int MAX_KEY_BYTES = 255;

	/** The beginning is Curator's protection. */
	private static final Pattern NAME = Pattern.compile("_c_[-0-9a-f]{36}-(exclusive|shared)_(-?\\d+)");

	/**
	 * Returns the path of a lock. The key is one segment of it, whatever its characters
	 * are.
	 */
	static String lock(String key) {
		String segment = URLEncoder.encode(LockKeys.id(key, MAX_KEY_BYTES), StandardCharsets.UTF_8).replace("%3A", ":");
		return LOCKS + (segment.startsWith(".") ? "%2E" + segment.substring(1) : segment);
	}

	/**
	 * Returns the name of a place without Curator's protection and its number.
	 */
	static String name(LockMode mode) {
		return (mode == LockMode.SHARED) ? "shared_" : "exclusive_";
	}

	/**
	 * Sorts the places of a queue. Nodes of other kinds are left out. The numbers
	 * overflow after 2^31 places.
	 */
	static List<LockNode> queue(List<String> names) {
		return names.stream()
			.map(NAME::matcher)
			.filter(Matcher::matches)
			.map((name) -> new LockNode(name.group(), name.group(1).equals("shared"),
					(int) Long.parseLong(name.group(2))))
			.sorted((left, right) -> left.sequence - right.sequence)
			.toList();
	}

	/**
	 * Returns those places of a queue that hold the lock.
	 */
	static List<LockNode> holders(List<LockNode> queue) {
		return queue.stream().takeWhile((node) -> node.predecessor(queue) == null).toList();
	}

	/**
	 * Returns the last place that this one must wait for.
	 */
	@Nullable LockNode predecessor(List<LockNode> queue) {
		return queue.stream()
			.takeWhile((node) -> !node.equals(this))
			.filter((node) -> !this.shared || !node.shared)
			.reduce((first, second) -> second)
			.orElse(null);
	}

}
