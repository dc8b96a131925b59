package io.github.holdfast.testsupport;

import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Finds COMMIT in what one client sends to a database. The driver of PostgreSQL says it
 * only once on each connection, under a name by which it is executed from then on.
 */
final class CommitWatch {

	/** Not the isolation {@code READ COMMITTED}. */
	private static final Pattern COMMIT = Pattern.compile("COMMIT(?!TED)");

	/** The begin of a Parse message: the name of the statement, and its text. */
	private static final Pattern PREPARED = Pattern.compile("(S_\\d+)\0COMMIT\0");

	/** How a Bind message names the statement, after a portal without name. */
	private String execution;

	private volatile boolean awaited;

	boolean sent(byte[] bytes, int length) {
		String request = new String(bytes, 0, length, StandardCharsets.ISO_8859_1);
		Matcher prepared = PREPARED.matcher(request);
		if (prepared.find()) {
			this.execution = "\0" + prepared.group(1) + "\0";
		}
		this.awaited = COMMIT.matcher(request).find() || (this.execution != null && request.contains(this.execution));
		return this.awaited;
	}

	boolean isAwaited() {
		return this.awaited;
	}

}
