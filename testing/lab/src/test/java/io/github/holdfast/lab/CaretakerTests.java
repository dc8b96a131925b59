package io.github.holdfast.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** What cleans up behind the lab. */
class CaretakerTests {

	@Test
	void endsProcessesOfTheFolderAndRemovesIt(@TempDir Path temporary) throws IOException {
		Path folder = Files.createDirectory(temporary.resolve("lab"));
		Files.createFile(folder.resolve("data"));
		Process mine = sleeper(folder.resolve("data"));
		Process other = sleeper(temporary.resolve("other"));
		try {
			new Caretaker(folder).close();
			assertThat(mine.onExit().join().exitValue()).isNotZero();
			assertThat(other.isAlive()).isTrue();
			assertThat(folder).doesNotExist();
			assertThat(temporary).exists();
		}
		finally {
			mine.destroyForcibly();
			other.destroyForcibly();
		}
	}

	private static Process sleeper(Path name) throws IOException {
		return new ProcessBuilder("sh", "-c", "sleep 60; true", name.toString()).start();
	}

}
