package io.github.holdfast;

/**
 * What all exceptions of Holdfast have in common. An interface, because exceptions that
 * mean "try again" belong to Spring's
 * {@link org.springframework.dao.ConcurrencyFailureException} family and the others must
 * not. None is a {@link org.springframework.transaction.TransactionException}.
 */
public interface LockException {

	/**
	 * The key that the exception is about, in the caller's form. A {@link LockBackend}
	 * throws a {@link LockBackendException} with the stored key, which includes the
	 * prefix. Callers of locked code never see the prefix.
	 * @return the key
	 */
	String key();

	/**
	 * Returns a key in quotes for a message or a log line, without characters that could
	 * forge one.
	 * @param key the key
	 * @return the quoted key
	 */
	static String quote(String key) {
		return "'" + escape(key) + "'";
	}

	/**
	 * Returns a text for a message or a log line, cut at 200 characters and without
	 * characters that could forge a line.
	 * @param text the text
	 * @return the escaped text
	 */
	static String escape(String text) {
		StringBuilder escaped = new StringBuilder(text.length());
		text.codePoints().limit(200).forEach((c) -> {
			if (Character.isISOControl(c) || Character.getType(c) == Character.FORMAT
					|| Character.getType(c) == Character.LINE_SEPARATOR
					|| Character.getType(c) == Character.PARAGRAPH_SEPARATOR) {
				escaped.append(String.format("\\u%04x", c));
			}
			else {
				escaped.appendCodePoint(c);
			}
		});
		return (text.codePointCount(0, text.length()) > 200) ? escaped.append("…").toString() : escaped.toString();
	}

}
