package io.github.holdfast.store.zookeeper;

import java.util.Comparator;
import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockRequest;

/**
 * A place in the queue of a lock, as the name of its node tells: mode, owner and session,
 * and the number that ZooKeeper has given it.
 *
 * @param name the name of the node
 * @param shared whether it lets other shared ones hold the lock, too
 * @param sequence the number, which overflows after 2^31 places of one queue
 */
record LockNode(String name, boolean shared, int sequence) {

	private static final Comparator<LockNode> ORDER = (left, right) -> left.sequence - right.sequence;

	private static final String SHARED = "shared-";

	private static final String EXCLUSIVE = "exclusive-";

	private static final char END_OF_PREFIX = '_';

	/**
	 * What the name of a place begins with. No other one has the same.
	 * @param request who wants the lock
	 * @param session the id of the session
	 * @param number the number of the place in the session
	 */
	static String prefix(LockRequest request, long session, long number) {
		return ((request.mode() == LockRequest.Mode.SHARED) ? SHARED : EXCLUSIVE) + LockPaths.segment(request.owner())
				+ '-' + Long.toHexString(session) + '-' + number + END_OF_PREFIX;
	}

	/**
	 * The places in a queue, in no order. Nodes of other kinds are left out.
	 */
	static List<LockNode> of(List<String> names) {
		return names.stream().map(LockNode::parse).filter(Objects::nonNull).toList();
	}

	private static @Nullable LockNode parse(String name) {
		boolean shared = name.startsWith(SHARED);
		int end = name.lastIndexOf(END_OF_PREFIX);
		if (end < 0 || !(shared || name.startsWith(EXCLUSIVE))) {
			return null;
		}
		try {
			return new LockNode(name, shared, Integer.parseInt(name.substring(end + 1)));
		}
		catch (NumberFormatException ex) {
			return null;
		}
	}

	/**
	 * Who has this place.
	 */
	String owner() {
		int end = this.name.lastIndexOf('-', this.name.lastIndexOf('-') - 1);
		return this.name.substring((this.shared ? SHARED : EXCLUSIVE).length(), end);
	}

	/**
	 * The first place of a prefix.
	 */
	static @Nullable LockNode first(List<LockNode> queue, String prefix) {
		return queue.stream().filter((node) -> node.name.startsWith(prefix)).min(ORDER).orElse(null);
	}

	/**
	 * The place that this one has to wait for.
	 */
	@Nullable LockNode predecessor(List<LockNode> queue) {
		return queue.stream()
			.filter((node) -> ORDER.compare(node, this) < 0 && !(this.shared && node.shared))
			.max(ORDER)
			.orElse(null);
	}

}
