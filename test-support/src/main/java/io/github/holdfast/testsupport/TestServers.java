package io.github.holdfast.testsupport;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.springframework.util.FileSystemUtils;

/**
 * Starts servers that need a directory, and leaves neither process nor file behind when
 * this JVM exits.
 */
final class TestServers {

	private TestServers() {
	}

	static <T> T start(String name, Start<T> start, Stop<T> stop) {
		try {
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
		catch (Exception ex) {
			throw new IllegalStateException(name + " did not start", ex);
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
		delete(directory);
	}

	private static void delete(Path directory) {
		try {
			FileSystemUtils.deleteRecursively(directory);
		}
		catch (IOException ex) {
			ex.printStackTrace();
		}
	}

	/**
	 * Starts a server.
	 *
	 * @param <T> the server
	 */
	@FunctionalInterface
	interface Start<T> {

		T start(Path directory) throws Exception;

	}

	/**
	 * Stops a server.
	 *
	 * @param <T> the server
	 */
	@FunctionalInterface
	interface Stop<T> {

		void stop(T server) throws Exception;

	}

}
