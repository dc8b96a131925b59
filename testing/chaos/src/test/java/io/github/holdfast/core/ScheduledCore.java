package io.github.holdfast.core;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import io.github.holdfast.chaos.Hole;
import org.jspecify.annotations.Nullable;

/**
 * The core in a process of its own, with the time and the waiting of {@link World}, and
 * perhaps with a mistake.
 */
final class ScheduledCore {

	private static final List<String> CLASSES = List.of("Grant", "LocalQueue", "LockCall", "LockManager", "Watchdog");

	private ScheduledCore() {
	}

	/**
	 * Plays schedules.
	 * @param name the name of the directory for the classes
	 * @param mistake a mistake to make, or {@code null}
	 * @param times how many of each schedule
	 * @param schedules their names, or none for all
	 * @return what the process printed
	 */
	static List<String> play(String name, @Nullable Hole mistake, int times, List<String> schedules)
			throws IOException, InterruptedException {
		Path directory = Files.createDirectories(Path.of("target", "schedules", name));
		Path sources = directory.resolve("source");
		List<Path> dug = (mistake != null) ? mistake.dig(sources) : List.of();
		List<Path> files = new ArrayList<>();
		for (String type : CLASSES) {
			String file = "core/" + type + ".java";
			Path copy = sources.resolve(file);
			String text = Files.readString(dug.contains(copy) ? copy : Hole.SOURCES.resolve(file));
			Files.createDirectories(copy.getParent());
			files.add(Files.writeString(copy, inTheWorld(text)));
		}
		Hole.compile(name, files, directory);
		Path log = directory.resolve("log");
		List<String> command = new ArrayList<>(
				List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx512m",
						"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp",
						directory + ":" + System.getProperty("java.class.path"), Schedule.class.getName(),
						Integer.toString(times)));
		command.addAll(schedules);
		new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start().waitFor();
		return Files.readAllLines(log);
	}

	/**
	 * Without these imports, the classes of this package are meant.
	 */
	private static String inTheWorld(String source) {
		return source.replaceAll("import java.util.concurrent.(ConcurrentHashMap|Semaphore|locks.LockSupport);", "")
			.replace("System.nanoTime()", "World.nanoTime()")
			.replace("Thread.interrupted()", "World.interrupted()")
			.replaceAll("(this.thread|Thread.currentThread..)[.]interrupt..", "World.interrupt($1)")
			.replace("LoggerFactory.getLogger(", "World.logger(")
			.replace("LockOwner.random()", "\"owner\"")
			.replace("LockOwner.currentThread()", "\"holder\"");
	}

}
