package io.github.holdfast.benchmarks.contender;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.IntFunction;

import org.apache.curator.test.TestingServer;
import redis.embedded.RedisServer;

import org.springframework.util.FileSystemUtils;

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
			return new Server(port, (reached) -> "spring.data.redis.port=" + reached, server::stop);
		}

	},

	/** MariaDB, with its defaults. */
	MARIADB {

		@Override
		Server start() throws Exception {
			MariaDbServer server = MariaDbServer.start();
			return new Server(server.port(), (port) -> JDBC_URL + "=" + MariaDbServer.jdbcUrl(port), server);
		}

	},

	/** PostgreSQL, with its defaults. */
	POSTGRESQL {

		@Override
		Server start() throws Exception {
			PostgresServer server = PostgresServer.start();
			return new Server(server.port(), (port) -> POSTGRESQL_JDBC_URL + "=" + PostgresServer.jdbcUrl(port),
					server);
		}

	},

	/** ZooKeeper, one node. */
	ZOOKEEPER {

		@Override
		Server start() throws Exception {
			Path folder = Files.createTempDirectory("benchmark-zookeeper");
			// Beside its data, it writes its configuration
			TestingServer server = new TestingServer(-1, Files.createDirectory(folder.resolve("data")).toFile(), true);
			return new Server(server.getPort(), (port) -> "benchmark.zookeeper=127.0.0.1:" + port, () -> {
				server.close();
				FileSystemUtils.deleteRecursively(folder);
			});
		}

	};

	/** The property that tells the pool of an application where MariaDB is. */
	public static final String JDBC_URL = "spring.datasource.hikari.jdbc-url";

	/** The property that tells where PostgreSQL is. */
	public static final String POSTGRESQL_JDBC_URL = "benchmark.postgresql-jdbc-url";

	abstract Server start() throws Exception;

	private static int freePort() throws IOException {
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			return socket.getLocalPort();
		}
	}

	/**
	 * A server that runs.
	 *
	 * @param port where it listens
	 * @param property how applications find it at some port
	 * @param stop stops it
	 */
	record Server(int port, IntFunction<String> property, AutoCloseable stop) {

	}

}
