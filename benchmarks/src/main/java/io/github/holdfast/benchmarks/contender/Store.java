package io.github.holdfast.benchmarks.contender;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;

import org.apache.curator.test.TestingServer;
import redis.embedded.RedisServer;

/**
 * A server that locks or data are kept in.
 */
public enum Store {

	/** Redis, which keeps nothing on disk. */
	REDIS {

		@Override
		Server start() throws Exception {
			int port = freePort();
			RedisServer server = RedisServer.newRedisServer()
				.port(port)
				.bind("127.0.0.1")
				.setting("save \"\"")
				.onShutdownForceStop(true)
				.build();
			server.start();
			return new Server("spring.data.redis.port=" + port, server::stop);
		}

	},

	/** MariaDB, with its defaults. */
	MARIADB {

		@Override
		Server start() throws Exception {
			MariaDbServer server = MariaDbServer.start();
			return new Server("spring.datasource.hikari.jdbc-url=" + server.jdbcUrl(), server);
		}

	},

	/** ZooKeeper, one node. */
	ZOOKEEPER {

		@Override
		Server start() throws Exception {
			TestingServer server = new TestingServer();
			return new Server("benchmark.zookeeper=" + server.getConnectString(), server);
		}

	};

	abstract Server start() throws Exception;

	private static int freePort() throws IOException {
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			return socket.getLocalPort();
		}
	}

	/**
	 * A server that runs.
	 *
	 * @param property how applications find it
	 * @param stop stops it
	 */
	record Server(String property, AutoCloseable stop) {

	}

}
