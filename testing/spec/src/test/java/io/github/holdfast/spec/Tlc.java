package io.github.holdfast.spec;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import tlc2.TLC;

/** Runs of the model checker, each with its own classes, as they have static fields. */
final class Tlc {

	private static final Pattern VIOLATION = Pattern.compile("(?:Invariant|Action property) (\\w+) is violated");

	private static final Pattern STATES = Pattern.compile("(\\d+) distinct states found, \\d+ states left on queue");

	private static final Pattern STEP = Pattern.compile("(?m)^State \\d+:");

	private static final String NO_ERROR = "Model checking completed. No error has been found.";

	private Tlc() {
	}

	static Outcome run(Path module, Path configuration, Path folder) throws IOException, ReflectiveOperationException {
		URL tools = TLC.class.getProtectionDomain().getCodeSource().getLocation();
		try (URLClassLoader loader = new URLClassLoader(new URL[] { tools }, ClassLoader.getPlatformClassLoader())) {
			ByteArrayOutputStream output = new ByteArrayOutputStream();
			PrintStream stream = new PrintStream(output, true, StandardCharsets.UTF_8);
			Class<?> io = loader.loadClass("util.ToolIO");
			io.getField("out").set(null, stream);
			io.getField("err").set(null, stream);
			Class<?> type = loader.loadClass(TLC.class.getName());
			Object tlc = type.getConstructor().newInstance();
			String[] arguments = { "-workers", "1", "-metadir", folder.toString(), "-config", configuration.toString(),
					module.getFileName().toString() };
			type.getMethod("handleParameters", String[].class).invoke(tlc, (Object) arguments);
			Constructor<?> resolver = loader.loadClass("util.SimpleFilenameToStream").getConstructor();
			type.getMethod("setResolver", loader.loadClass("util.FilenameToStream"))
				.invoke(tlc, resolver.newInstance());
			type.getMethod("process").invoke(tlc);
			return Outcome.of(output.toString(StandardCharsets.UTF_8));
		}
	}

	/** What TLC has found: the violated invariant, "no error" or "unknown". */
	record Outcome(String violation, long states, long steps, String output) {

		private static Outcome of(String output) {
			Matcher violation = VIOLATION.matcher(output);
			String found = violation.find() ? violation.group(1) : output.contains(NO_ERROR) ? "no error" : "unknown";
			long states = STATES.matcher(output)
				.results()
				.mapToLong((match) -> Long.parseLong(match.group(1)))
				.max()
				.orElse(0);
			return new Outcome(found, states, Math.max(0, STEP.matcher(output).results().count() - 1), output);
		}

	}

}
