package io.github.holdfast.sample.wms.proof;

import java.util.List;

import io.github.holdfast.testsupport.RedisServer;

/**
 * A Redis server of its own for one test, which forgets everything when it is killed.
 */
final class TestRedis implements LockServer.Forgetful {

	private final String profile;

	private final RedisServer server = RedisServer.start();

	/**
	 * Start a server.
	 * @param profile the profile of nodes that keep their locks there
	 */
	TestRedis(String profile) {
		this.profile = profile;
	}

	@Override
	public List<String> arguments() {
		return List.of("--spring.profiles.active=" + this.profile, "--spring.data.redis.port=" + this.server.port());
	}

	@Override
	public void kill() {
		this.server.kill();
	}

	@Override
	public void restart() {
		this.server.restart();
	}

	@Override
	public void close() {
		this.server.close();
	}

}
