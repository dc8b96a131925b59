package io.github.holdfast.benchmarks;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.stream.Stream;

import com.sun.management.OperatingSystemMXBean;

/** Describes what the measurements ran on. */
public final class Machine {

	private static final OperatingSystemMXBean SYSTEM = ManagementFactory
		.getPlatformMXBean(OperatingSystemMXBean.class);

	private Machine() {
	}

	public static String description() {
		return String.format(Locale.ROOT, "%d processors (%s), %d GB, %s %s, %s %s", SYSTEM.getAvailableProcessors(),
				processor(), SYSTEM.getTotalMemorySize() >> 30, SYSTEM.getName(), SYSTEM.getVersion(),
				System.getProperty("java.vm.name"), System.getProperty("java.version"));
	}

	public static double load() {
		return SYSTEM.getSystemLoadAverage();
	}

	private static String processor() {
		try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
			return lines.filter((line) -> line.startsWith("model name"))
				.map((line) -> line.substring(line.indexOf(':') + 1).trim())
				.findFirst()
				.orElseGet(SYSTEM::getArch);
		}
		catch (IOException ex) {
			return SYSTEM.getArch();
		}
	}

}
