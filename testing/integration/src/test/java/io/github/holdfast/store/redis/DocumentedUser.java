package io.github.holdfast.store.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

import io.github.holdfast.testsupport.RedisServer;

/** The user of Redis with the privileges that the documentation lists. */
final class DocumentedUser {

	static final String NAME = "holdfast";

	static final String PASSWORD = "secret";

	private static final Path PAGE = Path.of("..", "..", "docs", "backend-redis.md");

	private DocumentedUser() {
	}

	/** Create the user as it is printed. */
	static void create(RedisServer server) {
		create(server, documented());
	}

	/** Create the user for keys that have any beginning. */
	static void createForAllKeys(RedisServer server) {
		create(server, documented().replaceAll("~\\S+ ", "").replace("resetkeys", "resetkeys allkeys"));
	}

	private static void create(RedisServer server, String command) {
		server.command("ACL", "DELUSER", NAME);
		server.command(command.split(" "));
	}

	/** The commands that the user may use, without their second words. */
	static Stream<String> commands() {
		return Stream.of(documented().split(" "))
			.filter((word) -> word.startsWith("+"))
			.map((word) -> word.split("[+|]")[1]);
	}

	private static String documented() {
		try (Stream<String> lines = Files.lines(PAGE)) {
			return lines.filter((line) -> line.startsWith("ACL SETUSER " + NAME + " ")).findFirst().orElseThrow();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
