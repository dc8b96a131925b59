package io.github.holdfast.testsupport;

import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

import org.springframework.util.FileSystemUtils;

/** Files below {@code target} that all JVMs of a module's tests share. */
final class SharedFiles {

	private static final Path DIRECTORY = Path.of("target", "servers").toAbsolutePath();

	private SharedFiles() {
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
