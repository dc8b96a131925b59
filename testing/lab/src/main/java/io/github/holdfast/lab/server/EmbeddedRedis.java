package io.github.holdfast.lab.server;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

import org.jspecify.annotations.Nullable;
import redis.embedded.core.ExecutableProvider;

import org.springframework.util.FileSystemUtils;

/**
 * A Redis server on a port of this machine, with its binary in a temporary folder that
 * {@link #close()} removes. Not for production: it keeps nothing on disk and asks for no
 * password.
 */
public final class EmbeddedRedis implements AutoCloseable {

	private final Path folder;

	private final int port;

	private @Nullable Process process;

	private EmbeddedRedis(Path folder, int port) {
		this.folder = folder;
		this.port = port;
	}

	public static EmbeddedRedis start(Path parent) {
		return start(FreePort.find(), parent, null);
	}

	/** Starts a server on a port that is known to be free. */
	public static EmbeddedRedis start(int port, Path parent, byte @Nullable [] snapshot) {
		try {
			EmbeddedRedis server = new EmbeddedRedis(Files.createTempDirectory(parent, "lab-redis"), port);
			try {
				if (snapshot != null) {
					Files.write(server.dump(), snapshot);
				}
				server.launch();
				return server;
			}
			catch (IOException | RuntimeException ex) {
				server.close();
				throw ex;
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException("Redis did not start", ex);
		}
	}

	private void launch() throws IOException {
		Path binary = ExecutableProvider.newJarResourceProvider(this.folder.toFile()).get().toPath();
		this.process = new ProcessBuilder(binary.toString(), "--port", String.valueOf(this.port), "--bind", "127.0.0.1",
				"--save", "", "--dir", this.folder.toString())
			.redirectErrorStream(true)
			.start();
		BufferedReader output = this.process.inputReader();
		StringBuilder read = new StringBuilder();
		while (read.indexOf("Ready to accept connections") < 0) {
			String line = output.readLine();
			if (line == null) {
				throw new IllegalStateException("Redis did not start: " + read);
			}
			read.append(line).append(System.lineSeparator());
		}
		Thread reader = new Thread(() -> drain(output), "Redis output");
		reader.setDaemon(true);
		reader.start();
	}

	/** Redis stands still when nobody reads what it says. */
	private static void drain(Reader output) {
		try {
			output.transferTo(Writer.nullWriter());
		}
		catch (IOException ex) {
			// It has ended
		}
	}

	private Path dump() {
		return this.folder.resolve("dump.rdb");
	}

	/** All that the server knows now, with which another one can be started. */
	public byte[] snapshot() {
		try (Socket socket = new Socket("127.0.0.1", this.port)) {
			socket.getOutputStream().write("SAVE\r\n".getBytes(StandardCharsets.US_ASCII));
			String answer = new String(socket.getInputStream().readNBytes(3), StandardCharsets.US_ASCII);
			if (!answer.equals("+OK")) {
				throw new IllegalStateException("Redis did not save what it knows: " + answer);
			}
			return Files.readAllBytes(dump());
		}
		catch (IOException ex) {
			throw new UncheckedIOException("Redis did not save what it knows", ex);
		}
	}

	public int port() {
		return this.port;
	}

	@Override
	public void close() {
		try {
			if (this.process != null) {
				this.process.destroyForcibly().onExit().join();
			}
			FileSystemUtils.deleteRecursively(this.folder);
		}
		catch (IOException ex) {
			throw new UncheckedIOException("Redis did not stop", ex);
		}
	}

}
