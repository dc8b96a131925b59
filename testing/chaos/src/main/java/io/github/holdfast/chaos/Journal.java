package io.github.holdfast.chaos;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import tools.jackson.databind.json.JsonMapper;

/** The calls of one process, in a file that outlives it. Safe for many threads. */
record Journal(Path file) {

	static final JsonMapper JSON = new JsonMapper();

	synchronized void add(Call call) {
		try {
			Files.writeString(this.file, JSON.writeValueAsString(call) + "\n", StandardOpenOption.CREATE,
					StandardOpenOption.APPEND);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	static List<Call> readAll(Path directory) {
		List<Call> calls = new ArrayList<>();
		try (Stream<Path> files = Files.list(directory)) {
			for (Path file : files.filter((it) -> it.toString().endsWith(".journal")).sorted().toList()) {
				String text = Files.readString(file);
				// A process that was killed may not have come to the end of a line
				text.substring(0, text.lastIndexOf('\n') + 1)
					.lines()
					.forEach((line) -> calls.add(JSON.readValue(line, Call.class)));
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return calls;
	}

}
