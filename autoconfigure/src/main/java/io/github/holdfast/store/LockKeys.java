package io.github.holdfast.store;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * Turns the keys of locks into ids that a store can hold: readable where possible, and
 * never the same for two different keys.
 */
public final class LockKeys {

	private static final String HASH_MARK = "#";

	private static final int HASH_LENGTH = 64;

	private LockKeys() {
	}

	/**
	 * Returns the id of a key. Control characters and {@code %} are written as {@code %}
	 * and two hexadecimal digits. An id of the maximum length or more is cut and ends in
	 * a SHA-256 hash, so that only hashed ids have exactly the maximum length.
	 * @param key the key
	 * @param maxBytes the longest id that the store takes, in bytes of UTF-8
	 * @return the id
	 */
	public static String id(String key, int maxBytes) {
		String escaped = escape(key);
		byte[] bytes = escaped.getBytes(StandardCharsets.UTF_8);
		if (bytes.length < maxBytes) {
			return escaped;
		}
		int head = maxBytes - HASH_LENGTH - HASH_MARK.length();
		StringBuilder id = new StringBuilder(maxBytes).append(head(escaped, head));
		int padding = head - id.toString().getBytes(StandardCharsets.UTF_8).length;
		return id.append("_".repeat(padding)).append(HASH_MARK).append(Digest.SHA_256.hex(bytes)).toString();
	}

	private static String escape(String key) {
		StringBuilder escaped = null;
		for (int i = 0; i < key.length(); i++) {
			char c = key.charAt(i);
			if (c < 0x20 || c == 0x7f || c == '%') {
				escaped = (escaped != null) ? escaped : new StringBuilder(key.length() + 8).append(key, 0, i);
				escaped.append('%').append(HexFormat.of().toHexDigits((byte) c));
			}
			else if (escaped != null) {
				escaped.append(c);
			}
		}
		return (escaped != null) ? escaped.toString() : key;
	}

	private static String head(String text, int maxBytes) {
		int bytes = 0;
		int end = 0;
		while (end < text.length()) {
			int codePoint = text.codePointAt(end);
			bytes += utf8Length(codePoint);
			if (bytes > maxBytes) {
				break;
			}
			end += Character.charCount(codePoint);
		}
		return text.substring(0, end);
	}

	private static int utf8Length(int codePoint) {
		return (codePoint < 0x80) ? 1 : (codePoint < 0x800) ? 2 : (codePoint < 0x10000) ? 3 : 4;
	}

}
