package io.github.holdfast.benchmarks.redis;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import redis.embedded.RedisServer;

import org.springframework.util.Assert;

/**
 * A Redis server that keeps nothing on disk, and one client that locks in it.
 */
final class LockedRedis implements AutoCloseable {

	private static final int CONTENDERS = 4;

	private static final int TURNS = 100;

	private final RedisServer server;

	private final int port;

	private final LockClient client;

	private int counter;

	private LockedRedis(RedisServer server, int port, LockClient client) {
		this.server = server;
		this.port = port;
		this.client = client;
	}

	static LockedRedis start(RedisContender lock) throws IOException {
		int port = freePort();
		RedisServer server = RedisServer.newRedisServer()
			.port(port)
			.bind("127.0.0.1")
			.setting("save \"\"")
			.onShutdownForceStop(true)
			.build();
		server.start();
		try {
			return new LockedRedis(server, port, lock.open(port));
		}
		catch (RuntimeException ex) {
			server.stop();
			throw ex;
		}
	}

	private static int freePort() throws IOException {
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			return socket.getLocalPort();
		}
	}

	LockClient client() {
		return this.client;
	}

	/**
	 * Fails if two threads hold the lock of one key at once.
	 */
	void checkExclusion() {
		CompletableFuture<?>[] threads = IntStream.range(0, CONTENDERS)
			.mapToObj((i) -> CompletableFuture.runAsync(() -> call(TURNS), (task) -> new Thread(task).start()))
			.toArray(CompletableFuture<?>[]::new);
		CompletableFuture.allOf(threads).join();
		Assert.state(this.counter == CONTENDERS * TURNS, () -> "Only " + this.counter + " calls have counted");
	}

	double commandsPerCall(int calls) throws IOException {
		return (double) SentCommands.during(this.port, () -> call(calls)) / calls;
	}

	private void call(int times) {
		for (int i = 0; i < times; i++) {
			this.client.run("inventory:SKU", () -> this.counter++);
		}
	}

	@Override
	public void close() throws IOException {
		this.client.close();
		this.server.stop();
	}

}
