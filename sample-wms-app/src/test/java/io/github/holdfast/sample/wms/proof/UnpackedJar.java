package io.github.holdfast.sample.wms.proof;

import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.zip.ZipFile;

import org.springframework.util.FileSystemUtils;

/**
 * The application, unpacked as Spring Boot recommends it for a quick start, with an
 * archive of its classes: nodes start for less than half of the processor time.
 */
final class UnpackedJar {

	private static final Path JAR = Path.of(System.getProperty("wms.jar"));

	private static final Path FOLDER = JAR.resolveSibling("unpacked");

	private UnpackedJar() {
	}

	/**
	 * How a JVM is told to run it. It is unpacked by the first one of several processes
	 * that ask.
	 * @return the last options of the command line
	 */
	@SuppressWarnings("try")
	static synchronized List<String> options() throws IOException {
		Path unpacked = FOLDER.resolve(JAR.getFileName());
		Path contents = FOLDER.resolve("contents");
		Path archive = FOLDER.resolve("classes.jsa");
		Files.createDirectories(FOLDER);
		try (FileChannel channel = FileChannel.open(FOLDER.resolve("lock"), StandardOpenOption.CREATE,
				StandardOpenOption.WRITE); FileLock lock = channel.lock()) {
			// Not by the time of the jar, which is the same in each build
			List<String> now = contents();
			if (!Files.exists(contents) || !Files.readAllLines(contents).equals(now)) {
				Files.deleteIfExists(contents);
				Files.deleteIfExists(archive);
				FileSystemUtils.deleteRecursively(FOLDER.resolve("lib"));
				run("-Djarmode=tools", "-jar", JAR.toString(), "extract", "--force", "--destination",
						FOLDER.toString());
				run("-XX:+UseSerialGC", "-XX:ArchiveClassesAtExit=" + archive, "-Dspring.context.exit=onRefresh",
						"-jar", unpacked.toString(), "--server.port=0", "--spring.datasource.url=jdbc:h2:mem:archive");
				Files.write(contents, now);
			}
		}
		return List.of("-XX:SharedArchiveFile=" + archive, "-jar", unpacked.toString());
	}

	private static List<String> contents() throws IOException {
		try (ZipFile jar = new ZipFile(JAR.toFile())) {
			return jar.stream().map((entry) -> entry.getName() + " " + entry.getCrc()).toList();
		}
	}

	private static void run(String... arguments) throws IOException {
		List<String> command = new ArrayList<>();
		command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
		command.addAll(List.of(arguments));
		File log = FOLDER.resolve("log").toFile();
		Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log).start();
		try {
			if (!process.waitFor(10, TimeUnit.MINUTES) || process.exitValue() != 0) {
				throw new IllegalStateException("'%s' failed, see %s".formatted(command, log));
			}
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
		finally {
			process.destroyForcibly();
		}
	}

}
