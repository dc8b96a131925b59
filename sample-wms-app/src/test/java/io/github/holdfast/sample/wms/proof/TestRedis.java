package io.github.holdfast.sample.wms.proof;

import java.io.Closeable;

import io.github.holdfast.sample.wms.redis.EmbeddedRedis;

/**
 * A Redis server of its own for one test class, which forgets everything when it is
 * killed.
 */
final class TestRedis implements Closeable {

	private final Thread shutdownHook = new Thread(this::kill);

	private EmbeddedRedis server = EmbeddedRedis.start();

	TestRedis() {
		Runtime.getRuntime().addShutdownHook(this.shutdownHook);
	}

	int port() {
		return this.server.port();
	}

	void kill() {
		this.server.close();
	}

	void restart() {
		this.server = EmbeddedRedis.start(port());
	}

	@Override
	public void close() {
		kill();
		Runtime.getRuntime().removeShutdownHook(this.shutdownHook);
	}

}
