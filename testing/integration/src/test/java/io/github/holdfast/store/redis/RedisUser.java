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

	SPRING("redis.md", "holdfast"),

	/** The same in categories, for services that know no single commands. */
	CATEGORIES("redis.md", "holdfast-by-category"),

	REDISSON("redisson.md", "holdfast");

	static final String NAME = "holdfast";

	static final String PASSWORD = "secret";

	private final String page;

	private final String documentedName;

	RedisUser(String page, String documentedName) {
		this.page = page;
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
			return Files.readAllLines(Path.of("..", "..", "docs", this.page))
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
