package io.github.holdfast.core;

import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.holdfast.chaos.Hole;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * The core in a process of its own, on a JDK whose threads obey Fray, and perhaps with a
 * mistake.
 */
final class ScheduledCore {

	private static final Path DIRECTORY = Path.of("target", "schedules").toAbsolutePath();

	private static final Path JAVA = DIRECTORY.resolve("jdk");

	private static final String QUEUE = "core/LocalQueue.java";

	private ScheduledCore() {
	}

	/**
	 * A JDK 25: that of the property or of the environment, this one, or one beside it.
	 */
	static @Nullable Path jdk() throws IOException {
		Path current = Path.of(System.getProperty("java.home")).toRealPath();
		try (Stream<Path> neighbours = Files.list(Objects.requireNonNull(current.getParent()))) {
			return Stream
				.concat(Stream.of(System.getProperty("holdfast.jdk25"), System.getenv("JAVA_HOME_25_X64"))
					.filter(Objects::nonNull)
					.map(Path::of), Stream.concat(Stream.of(current), neighbours))
				.filter(ScheduledCore::isJdk25)
				.findFirst()
				.orElse(null);
		}
	}

	private static boolean isJdk25(Path home) {
		try {
			return Files.exists(home.resolve("bin/jlink"))
					&& Files.readString(home.resolve("release")).contains("JAVA_VERSION=\"25");
		}
		catch (IOException ex) {
			return false;
		}
	}

	/**
	 * Plays scenes.
	 * @param mistake a mistake to make, or {@code null}
	 * @param times how many schedules of each scene
	 * @param scenes their names
	 * @return the lines with the results
	 */
	static List<String> play(@Nullable Hole mistake, int times, List<String> scenes)
			throws IOException, InterruptedException {
		String name = (mistake != null) ? mistake.name() : "right";
		Path directory = Files.createDirectories(DIRECTORY.resolve(name));
		Path log = directory.resolve("log");
		List<String> command = new ArrayList<>(List.of(java(), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
				"-javaagent:" + jar("fray-instrumentation-agent"), "-agentpath:" + DIRECTORY.resolve("libjvmti.so"),
				"-Dslf4j.provider=org.slf4j.helpers.NOP_FallbackServiceProvider", "-cp",
				compile(name, mistake, directory) + ":" + System.getProperty("java.class.path"),
				Schedules.class.getName(), directory.resolve("report").toString(), Integer.toString(times)));
		command.addAll(scenes);
		run(command, log);
		return Files.readAllLines(log).stream().filter((line) -> line.startsWith("scene ")).toList();
	}

	/**
	 * Compiles the queue with the other semaphore, and the classes with the mistake.
	 */
	private static Path compile(String name, @Nullable Hole mistake, Path directory) throws IOException {
		Path sources = directory.resolve("source");
		List<Path> files = new ArrayList<>((mistake != null) ? mistake.dig(sources) : List.of());
		Path queue = sources.resolve(QUEUE);
		String text = Files.readString(files.contains(queue) ? queue : Hole.SOURCES.resolve(QUEUE));
		Files.createDirectories(queue.getParent());
		Files.writeString(queue, text.replace("import java.util.concurrent.Semaphore;", ""));
		files.remove(queue);
		files.add(queue);
		Path classes = Files.createDirectories(directory.resolve("classes"));
		Hole.compile(name, files, classes);
		return classes;
	}

	/**
	 * Makes the JDK, once.
	 */
	private static synchronized String java() throws IOException, InterruptedException {
		if (!Files.exists(JAVA.resolve("bin/java"))) {
			Files.createDirectories(DIRECTORY);
			String modules = jars()
				.filter((jar) -> jar.getFileName()
					.toString()
					.matches("(fray-(instrumentation-(base|jdk)|runtime)|kotlin-(stdlib|reflect)|asm).*"))
				.map(Path::toString)
				.collect(Collectors.joining(":"));
			run(List.of(Objects.requireNonNull(jdk()).resolve("bin/jlink").toString(),
					"-J-javaagent:" + jar("fray-instrumentation-jdk"), "-J--module-path=" + modules,
					"-J--add-modules=org.pastalab.fray.instrumentation.jdk", "-J--class-path=" + modules,
					"--add-modules=java.instrument,java.logging,java.management,java.rmi,jdk.unsupported",
					"--fray-instrumentation", "--output=" + JAVA), DIRECTORY.resolve("jlink.log"));
			try (FileSystem jar = FileSystems.newFileSystem(URI.create("jar:" + jar("fray-jvmti").toUri()),
					java.util.Map.of())) {
				Files.write(DIRECTORY.resolve("libjvmti.so"), Files.readAllBytes(jar.getPath("libjvmti.so")));
			}
		}
		return JAVA.resolve("bin/java").toString();
	}

	private static void run(List<String> command, Path log) throws IOException, InterruptedException {
		int result = new ProcessBuilder(command).redirectErrorStream(true)
			.redirectOutput(log.toFile())
			.start()
			.waitFor();
		Assert.state(result == 0, () -> "See " + log);
	}

	private static Stream<Path> jars() {
		return Stream.of(System.getProperty("java.class.path").split(":")).map(Path::of);
	}

	private static Path jar(String name) {
		return jars().filter((jar) -> jar.getFileName().toString().startsWith(name)).findFirst().orElseThrow();
	}

}
