package io.github.holdfast.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.holdfast.lab.server.EmbeddedMariaDb;
import io.github.holdfast.lab.server.EmbeddedRedis;
import io.github.holdfast.lab.server.EmbeddedZooKeeper;

/**
 * The servers that all nodes share: MariaDB, three times Redis, and ZooKeeper. All that
 * they write is in one folder, which is removed with them.
 */
final class LabServers implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(LabServers.class);

	private static final int REDIS_SERVERS = 3;

	/** Sessions of ZooKeeper last two ticks at least. */
	private static final Duration TICK = Duration.ofMillis(500);

	private final Path folder;

	private final Caretaker caretaker;

	private final ConcurrentLinkedDeque<AutoCloseable> started = new ConcurrentLinkedDeque<>();

	private final EmbeddedMariaDb database;

	private final EmbeddedZooKeeper zooKeeper;

	private final List<EmbeddedRedis> redis = new CopyOnWriteArrayList<>();

	LabServers() {
		try {
			this.folder = Files.createTempDirectory("holdfast-lab").toAbsolutePath();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		this.caretaker = new Caretaker(this.folder);
		try {
			for (int i = 0; i < REDIS_SERVERS; i++) {
				this.redis.add(start("Redis", () -> EmbeddedRedis.start(this.folder), EmbeddedRedis::port));
			}
			this.zooKeeper = start("ZooKeeper", () -> EmbeddedZooKeeper.start(this.folder, TICK),
					EmbeddedZooKeeper::port);
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

	/**
	 * Makes an empty folder in there.
	 */
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

	int zooKeeperPort() {
		return this.zooKeeper.port();
	}

	List<Integer> redisPorts() {
		return this.redis.stream().map(EmbeddedRedis::port).toList();
	}

	/**
	 * Kills the first Redis, which forgets everything, and starts it again on the same
	 * port.
	 * @param pause how long it is away
	 */
	synchronized void restartRedis(Pause pause) throws InterruptedException {
		this.redis.get(0).close();
		try {
			pause.await();
		}
		finally {
			replaceRedis(null);
		}
	}

	/**
	 * Kills the first Redis, and lets a replica take its place that has not heard of
	 * everything yet.
	 * @param lag how long ago it has heard of something
	 */
	synchronized void promoteReplica(Pause lag) throws InterruptedException {
		byte[] replica = this.redis.get(0).snapshot();
		lag.await();
		this.redis.get(0).close();
		replaceRedis(replica);
	}

	private void replaceRedis(byte @Nullable [] snapshot) {
		EmbeddedRedis server = EmbeddedRedis.start(this.redis.get(0).port(), this.folder, snapshot);
		this.redis.set(0, server);
		this.started.push(server);
	}

	/**
	 * Something that takes a while.
	 */
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
