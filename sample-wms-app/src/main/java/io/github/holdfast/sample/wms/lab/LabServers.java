package io.github.holdfast.sample.wms.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.holdfast.sample.wms.mariadb.EmbeddedMariaDb;
import io.github.holdfast.sample.wms.redis.EmbeddedRedis;
import io.github.holdfast.sample.wms.zookeeper.EmbeddedZooKeeper;

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

	private final List<EmbeddedRedis> redis;

	LabServers() {
		try {
			this.folder = Files.createTempDirectory("wms-lab").toAbsolutePath();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		this.caretaker = new Caretaker(this.folder);
		CompletableFuture<EmbeddedMariaDb> database = start("MariaDB", () -> EmbeddedMariaDb.start(this.folder),
				EmbeddedMariaDb::port);
		CompletableFuture<EmbeddedZooKeeper> zooKeeper = start("ZooKeeper",
				() -> EmbeddedZooKeeper.start(this.folder, TICK), EmbeddedZooKeeper::port);
		List<CompletableFuture<EmbeddedRedis>> redis = new ArrayList<>();
		for (int i = 0; i < REDIS_SERVERS; i++) {
			redis.add(start("Redis", () -> EmbeddedRedis.start(this.folder), EmbeddedRedis::port));
		}
		List<CompletableFuture<?>> all = new ArrayList<>(redis);
		all.add(database);
		all.add(zooKeeper);
		try {
			CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).join();
		}
		catch (RuntimeException ex) {
			close();
			throw ex;
		}
		this.database = database.join();
		this.zooKeeper = zooKeeper.join();
		this.redis = new CopyOnWriteArrayList<>(redis.stream().map(CompletableFuture::join).toList());
	}

	private <T extends AutoCloseable> CompletableFuture<T> start(String name, Supplier<T> starter,
			Function<T, Integer> port) {
		logger.info("Lab: {} is starting", name);
		return CompletableFuture.supplyAsync(() -> {
			T server = starter.get();
			this.started.push(server);
			logger.info("Lab: {} is ready on port {}", name, port.apply(server));
			return server;
		}, (task) -> new Thread(task, name + " start").start());
	}

	/**
	 * Where everything is that the lab writes.
	 * @return a folder
	 */
	Path folder() {
		return this.folder;
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
	 * @param time how long it is away
	 */
	void restartRedis(Duration time) throws InterruptedException {
		int port = this.redis.get(0).port();
		this.redis.get(0).close();
		TimeUnit.MILLISECONDS.sleep(time.toMillis());
		EmbeddedRedis server = EmbeddedRedis.start(port, this.folder);
		this.redis.set(0, server);
		this.started.push(server);
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
