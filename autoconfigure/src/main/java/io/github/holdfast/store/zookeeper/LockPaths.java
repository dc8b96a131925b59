package io.github.holdfast.store.zookeeper;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

import io.github.holdfast.store.LockKeys;

/**
 * Where the locks are in the tree of ZooKeeper. No character of a key can make another
 * level or be refused: each lock is one segment below one node.
 *
 * @param locks the parent of all locks
 */
record LockPaths(String locks) {

	/** In the namespace of the client. */
	static final String LOCKS = "/holdfast/locks";

	static final String EPOCHS = "/holdfast/epochs";

	private static final String SAFE = "!#$%&'()*+,-:;<=>?@[]^_`{|}~\"\\ ";

	private static final int MAX_KEY_BYTES = 255;

	String lock(String key) {
		return this.locks + '/' + segment(key);
	}

	/**
	 * The node with the number that is added to each zxid.
	 */
	String epochs() {
		return this.locks.substring(0, this.locks.length() - LOCKS.length()) + EPOCHS;
	}

	/**
	 * Writes a text as one segment: printable ASCII as it is, except for slashes and a
	 * dot at the beginning, and all else as {@code %} and two hexadecimal digits for each
	 * byte. An id has a {@code %} of its own only in front of digits that stand for other
	 * characters.
	 */
	static String segment(String text) {
		byte[] bytes = LockKeys.id(text, MAX_KEY_BYTES).getBytes(StandardCharsets.UTF_8);
		StringBuilder segment = new StringBuilder(bytes.length);
		for (byte b : bytes) {
			if (isSafe((char) b) || (b == '.' && !segment.isEmpty())) {
				segment.append((char) b);
			}
			else {
				segment.append('%').append(HexFormat.of().toHexDigits(b));
			}
		}
		return segment.toString();
	}

	private static boolean isSafe(char c) {
		return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || SAFE.indexOf(c) >= 0;
	}

}
