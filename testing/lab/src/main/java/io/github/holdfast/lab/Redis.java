package io.github.holdfast.lab;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import redis.embedded.core.ExecutableProvider;

/**
 * A Redis server, whose binary is in a folder of its own. Not for production: it keeps
 * nothing on disk and asks for no password.
 */
final class Redis {

	private final Path folder;

	private final int port;

	private final Process process;

	/** Starts a server, with what another one knew. */
	Redis(int port, Path parent, byte @Nullable [] snapshot) throws IOException, InterruptedException {
		this.folder = Files.createTempDirectory(parent, "redis");
		this.port = port;
		if (snapshot != null) {
			Files.write(dump(), snapshot);
		}
		Path binary = ExecutableProvider.newJarResourceProvider(this.folder.toFile()).get().toPath();
		Path log = this.folder.resolve("log");
		this.process = new ProcessBuilder(binary.toString(), "--port", String.valueOf(port), "--bind", "127.0.0.1",
				"--save", "", "--dir", this.folder.toString())
			.redirectErrorStream(true)
			.redirectOutput(log.toFile())
			.start();
		while (!Files.readString(log).contains("Ready to accept connections")) {
			if (this.process.waitFor(10, TimeUnit.MILLISECONDS)) {
				throw new IllegalStateException("Redis did not start: " + Files.readString(log));
			}
		}
	}

	private Path dump() {
		return this.folder.resolve("dump.rdb");
	}

	/** All that it knows now. */
	byte[] snapshot() throws IOException {
		try (Socket socket = new Socket("127.0.0.1", this.port)) {
			socket.getOutputStream().write("SAVE\r\n".getBytes(StandardCharsets.US_ASCII));
			String answer = new String(socket.getInputStream().readNBytes(3), StandardCharsets.US_ASCII);
			if (!answer.equals("+OK")) {
				throw new IllegalStateException("Redis did not save what it knows: " + answer);
			}
		}
		return Files.readAllBytes(dump());
	}

	int port() {
		return this.port;
	}

	void kill() {
		this.process.destroyForcibly().onExit().join();
	}

}
