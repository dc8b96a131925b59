package io.github.holdfast.sample.wms.proof;

import java.util.List;

import io.github.holdfast.sample.wms.redis.EmbeddedRedis;

/**
 * A Redis server of its own for one test, which forgets everything when it is killed.
 */
final class TestRedis implements LockServer.Forgetful {

	private final String profile;

	private final Thread shutdownHook = new Thread(this::kill);

	private EmbeddedRedis server = EmbeddedRedis.start();

	/**
	 * Start a server.
	 * @param profile the profile of nodes that keep their locks there
	 */
	TestRedis(String profile) {
		this.profile = profile;
		Runtime.getRuntime().addShutdownHook(this.shutdownHook);
	}

	@Override
	public List<String> arguments() {
		return List.of("--spring.profiles.active=" + this.profile, "--spring.data.redis.port=" + this.server.port());
	}

	@Override
	public void kill() {
		this.server.close();
	}

	@Override
	public void restart() {
		this.server = EmbeddedRedis.start(this.server.port());
	}

	@Override
	public void close() {
		kill();
		Runtime.getRuntime().removeShutdownHook(this.shutdownHook);
	}

}
