package io.github.holdfast.testsupport;

import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

import org.springframework.util.FileSystemUtils;

/** Files below {@code target} that the JVMs of all tests share. */
final class SharedFiles {

	private static final Path DIRECTORY = build().resolve(Path.of("target", "servers"));

	private SharedFiles() {
	}

	/** The directory of the whole build, or the current one if this is no part of it. */
	private static Path build() {
		Path current = Path.of("").toAbsolutePath();
		for (Path directory = current; directory != null; directory = directory.getParent()) {
			if (Files.exists(directory.resolve("mvnw"))) {
				return directory;
			}
		}
		return current;
	}

	/** The directory with some files, which the first JVM that asks makes. */
	static Path get(String name, Maker maker) throws Exception {
		Files.createDirectories(DIRECTORY);
		Path made = DIRECTORY.resolve(name);
		try (FileChannel file = FileChannel.open(DIRECTORY.resolve(name + ".lock"), StandardOpenOption.CREATE,
				StandardOpenOption.WRITE); FileLock lock = file.lock()) {
			if (lock.isValid() && !Files.exists(made)) {
				Path draft = DIRECTORY.resolve(name + ".draft");
				FileSystemUtils.deleteRecursively(draft);
				maker.make(Files.createDirectory(draft));
				Files.move(draft, made);
			}
		}
		return made;
	}

	@FunctionalInterface
	interface Maker {

		void make(Path directory) throws Exception;

	}

}
