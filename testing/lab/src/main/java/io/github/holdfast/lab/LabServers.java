package io.github.holdfast.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.holdfast.lab.server.EmbeddedMariaDb;
import io.github.holdfast.lab.server.EmbeddedRedis;

/**
 * The servers that all nodes share: MariaDB and Redis. All that they write is in one
 * folder, which is removed with them.
 */
final class LabServers implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(LabServers.class);

	private final Path folder;

	private final Caretaker caretaker;

	private final ConcurrentLinkedDeque<AutoCloseable> started = new ConcurrentLinkedDeque<>();

	private final EmbeddedMariaDb database;

	private volatile EmbeddedRedis redis;

	LabServers() {
		try {
			this.folder = Files.createTempDirectory("holdfast-lab").toAbsolutePath();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		this.caretaker = new Caretaker(this.folder);
		try {
			this.redis = start("Redis", () -> EmbeddedRedis.start(this.folder), EmbeddedRedis::port);
			this.database = start("MariaDB", () -> EmbeddedMariaDb.start(this.folder), EmbeddedMariaDb::port);
		}
		catch (RuntimeException ex) {
			close();
			throw ex;
		}
	}

	/**
	 * One after the other: a program that is being unpacked cannot be run while another
	 * process starts.
	 */
	private <T extends AutoCloseable> T start(String name, Supplier<T> starter, Function<T, Integer> port) {
		logger.info("Lab: {} is starting", name);
		T server = starter.get();
		this.started.push(server);
		logger.info("Lab: {} is ready on port {}", name, port.apply(server));
		return server;
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

	int redisPort() {
		return this.redis.port();
	}

	/** Kills Redis, which forgets everything, and starts it again on the same port. */
	synchronized void restartRedis(Pause pause) throws InterruptedException {
		this.redis.close();
		try {
			pause.await();
		}
		finally {
			replaceRedis(null);
		}
	}

	/**
	 * Kills Redis, and lets a replica take its place that has not heard of everything
	 * yet.
	 * @param lag how long ago it has heard of something
	 */
	synchronized void promoteReplica(Pause lag) throws InterruptedException {
		byte[] replica = this.redis.snapshot();
		lag.await();
		this.redis.close();
		replaceRedis(replica);
	}

	private void replaceRedis(byte @Nullable [] snapshot) {
		EmbeddedRedis server = EmbeddedRedis.start(this.redis.port(), this.folder, snapshot);
		this.redis = server;
		this.started.push(server);
	}

	interface Pause {

		void await() throws InterruptedException;

	}

	@Override
	public void close() {
		for (AutoCloseable server : this.started) {
			try {
				server.close();
			}
			catch (Exception ex) {
				logger.warn("Lab: a server did not stop", ex);
			}
		}
		this.caretaker.close();
	}

}
