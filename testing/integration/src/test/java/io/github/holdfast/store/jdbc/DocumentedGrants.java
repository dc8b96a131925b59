package io.github.holdfast.store.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The privileges that the documentation says are needed. */
public final class DocumentedGrants {

	private static final Path PAGE = Path.of("../../docs/backend-jdbc.md");

	private static final Pattern STATEMENT = Pattern.compile("^GRANT (.+) ON (holdfast_lock) TO shop_app;$",
			Pattern.MULTILINE);

	private static final Pattern PRIVILEGE = Pattern.compile("(\\w+)(?: \\(([^)]+)\\))?");

	private DocumentedGrants() {
	}

	/** The statements as they are printed. */
	public static List<String> statements() {
		return STATEMENT.matcher(page()).results().map((match) -> match.group().replace(";", "")).toList();
	}

	/** Each privilege on a table, and each of its columns, by itself. */
	public static List<String> privileges() {
		return STATEMENT.matcher(page())
			.results()
			.flatMap((match) -> PRIVILEGE.matcher(match.group(1))
				.results()
				.flatMap(DocumentedGrants::single)
				.map((privilege) -> privilege + " ON " + match.group(2)))
			.toList();
	}

	private static Stream<String> single(MatchResult privilege) {
		return (privilege.group(2) == null) ? Stream.of(privilege.group(1))
				: Stream.of(privilege.group(2).split(", ")).map((column) -> privilege.group(1) + " (" + column + ")");
	}

	private static String page() {
		try {
			return Files.readString(PAGE);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
