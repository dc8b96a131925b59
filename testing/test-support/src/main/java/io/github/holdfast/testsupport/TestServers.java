package io.github.holdfast.testsupport;

import java.nio.file.Files;
import java.nio.file.Path;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.util.FileSystemUtils;

/** Starts servers that need a directory, and leaves nothing behind. */
final class TestServers {

	private static final Logger logger = LoggerFactory.getLogger(TestServers.class);

	private static final int ATTEMPTS = 3;

	private TestServers() {
	}

	/** Starts a server, once more if it does not start on a machine that is busy. */
	static <T> T start(String name, Start<T> start, Stop<T> stop) {
		IllegalStateException failure = new IllegalStateException(name + " did not start");
		for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
			try {
				return startOnce(name, start, stop);
			}
			catch (Exception ex) {
				logger.warn("{} did not start at attempt {}", name, attempt, ex);
				failure.addSuppressed(ex);
			}
		}
		throw failure;
	}

	private static <T> T startOnce(String name, Start<T> start, Stop<T> stop) throws Exception {
		Path directory = Files.createTempDirectory("holdfast-");
		try {
			T server = start.start(directory);
			Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(server, stop, directory), name + " stop"));
			return server;
		}
		catch (Exception ex) {
			FileSystemUtils.deleteRecursively(directory);
			throw ex;
		}
	}

	private static <T> void stop(T server, Stop<T> stop, Path directory) {
		try {
			stop.stop(server);
		}
		catch (Exception ex) {
			// Nobody is left to be told otherwise: the loggers may be closed by now
			ex.printStackTrace();
		}
		FileSystemUtils.deleteRecursively(directory.toFile());
	}

	/** Starts a server, and leaves no process behind if it does not start. */
	@FunctionalInterface
	interface Start<T> {

		T start(Path directory) throws Exception;

	}

	@FunctionalInterface
	interface Stop<T> {

		void stop(T server) throws Exception;

	}

}
