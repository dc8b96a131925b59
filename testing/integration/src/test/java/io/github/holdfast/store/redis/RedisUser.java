package io.github.holdfast.store.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

import io.github.holdfast.testsupport.RedisServer;

/**
 * The user with the privileges that the documentation lists for a client.
 */
enum RedisUser {

	SPRING("holdfast"),

	/** The same in categories, for services that know no single commands. */
	CATEGORIES("holdfast-by-category"),

	REDISSON("holdfast-redisson");

	static final String NAME = "holdfast";

	static final String PASSWORD = "secret";

	private static final Path PAGE = Path.of("..", "..", "docs", "redis.md");

	private final String documentedName;

	RedisUser(String documentedName) {
		this.documentedName = documentedName;
	}

	/**
	 * Creates the user.
	 * @param server where
	 * @param keyPrefix the beginning of the keys that it may use, instead of the one of
	 * the documentation
	 */
	void create(RedisServer server, String keyPrefix) {
		server.command("ACL", "DELUSER", NAME);
		server.command(documented().replace("lock:*", keyPrefix + "*").split(" "));
	}

	/**
	 * The commands that the user may use.
	 */
	Stream<String> commands() {
		return Stream.of(documented().split(" ")).filter((word) -> word.startsWith("+"));
	}

	private String documented() {
		try {
			return Files.readAllLines(PAGE)
				.stream()
				.filter((line) -> line.startsWith("ACL SETUSER " + this.documentedName + " "))
				.findFirst()
				.orElseThrow()
				.replaceFirst(this.documentedName, NAME);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
