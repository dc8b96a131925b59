package io.github.holdfast.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;

import ch.vorburger.exec.ManagedProcessException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The servers that all nodes share: MariaDB and Redis. All that they write is in one
 * folder, which is removed with them.
 */
final class LabServers implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(LabServers.class);

	private final Path folder;

	private final Caretaker caretaker;

	private final MariaDb database;

	private volatile Redis redis;

	/**
	 * One after the other: a program that is being unpacked cannot be run while another
	 * process starts.
	 */
	LabServers() throws IOException, InterruptedException {
		this.folder = Files.createTempDirectory("holdfast-lab").toAbsolutePath();
		this.caretaker = new Caretaker(this.folder);
		try {
			logger.info("Lab: Redis and MariaDB are starting");
			this.redis = new Redis(freePort(), this.folder, null);
			this.database = new MariaDb(newFolder("mariadb"));
			logger.info("Lab: Redis is ready on port {}, MariaDB at {}", this.redis.port(), jdbcUrl());
		}
		catch (IOException | InterruptedException | RuntimeException ex) {
			this.caretaker.close();
			throw ex;
		}
	}

	/** None of those of clients, one of whom could take it while a server is away. */
	static int freePort() {
		while (true) {
			int port = ThreadLocalRandom.current().nextInt(20_000, 32_000);
			try {
				new ServerSocket(port, 1, InetAddress.getLoopbackAddress()).close();
				return port;
			}
			catch (IOException ex) {
				// Somebody listens on it
			}
		}
	}

	Path folder() {
		return this.folder;
	}

	Path newFolder(String name) {
		try {
			return Files.createDirectory(this.folder.resolve(name));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	String jdbcUrl() {
		return this.database.jdbcUrl();
	}

	Redis redis() {
		return this.redis;
	}

	/** Starts Redis again on the same port, with what another one knew. */
	void startRedis(byte @Nullable [] snapshot) throws IOException, InterruptedException {
		this.redis = new Redis(this.redis.port(), this.folder, snapshot);
	}

	/** The caretaker ends what does not stop. */
	@Override
	public void close() throws ManagedProcessException {
		try {
			this.database.stop();
		}
		finally {
			this.caretaker.close();
		}
	}

}
