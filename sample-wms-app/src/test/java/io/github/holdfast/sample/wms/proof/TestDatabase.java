package io.github.holdfast.sample.wms.proof;

import java.io.Closeable;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

import io.github.holdfast.sample.wms.mariadb.EmbeddedMariaDb;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.h2.tools.Server;

/**
 * A database server of its own for one test class, and what the test reads from it behind
 * the application's back.
 *
 * @param name what it is
 * @param url its URL
 * @param username who connects, without a password
 * @param blockedQuery a query that counts who waits for a row lock
 * @param server the server, closed with this
 */
record TestDatabase(String name, String url, String username, String blockedQuery,
		Closeable server) implements Closeable {

	static TestDatabase h2() throws SQLException {
		Server server = Server.createTcpServer("-tcpPort", "0", "-tcpDaemon", "-ifNotExists").start();
		return new TestDatabase("H2",
				"jdbc:h2:tcp://localhost:" + server.getPort() + "/mem:" + UUID.randomUUID()
						+ ";DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=10000",
				"sa", "select count(*) from information_schema.sessions where blocker_id is not null", server::stop);
	}

	static TestDatabase mariaDb() {
		EmbeddedMariaDb server = EmbeddedMariaDb.start();
		Thread shutdownHook = new Thread(server::close);
		Runtime.getRuntime().addShutdownHook(shutdownHook);
		return new TestDatabase("MariaDB", server.jdbcUrl(), "root",
				"select variable_value from information_schema.global_status "
						+ "where variable_name = 'innodb_row_lock_current_waits'",
				() -> {
					Runtime.getRuntime().removeShutdownHook(shutdownHook);
					server.close();
				});
	}

	static TestDatabase postgres() throws IOException {
		EmbeddedPostgres server = EmbeddedPostgres.builder().setPGStartupWait(Duration.ofSeconds(60)).start();
		return new TestDatabase("PostgreSQL", server.getJdbcUrl("postgres", "postgres"), "postgres",
				"select count(*) from pg_locks where not granted", server);
	}

	List<String> arguments() {
		return List.of("--spring.datasource.url=" + this.url, "--spring.datasource.username=" + this.username);
	}

	long stock(String customerNo, String sku) throws SQLException {
		return number("select available_inventory from tb_inventory where customer_no = ? and sku = ?", customerNo,
				sku);
	}

	long confirmed(String customerNo) throws SQLException {
		return number("select count(*) from outbound_order where customer_no = ? and status = 'CONFIRMED'", customerNo);
	}

	/**
	 * Keeps others from writing any stock until the connection is closed.
	 */
	Connection lockStock() throws SQLException {
		return lock("update tb_inventory set version = version");
	}

	/**
	 * Keeps others from writing any report until the connection is closed. On PostgreSQL
	 * only.
	 */
	Connection lockReports() throws SQLException {
		return lock("lock table stock_report in share mode");
	}

	private Connection lock(String sql) throws SQLException {
		Connection connection = connect();
		connection.setAutoCommit(false);
		try (Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
		return connection;
	}

	/**
	 * How many wait for such a lock.
	 */
	long blocked() throws SQLException {
		return number(this.blockedQuery);
	}

	private Connection connect() throws SQLException {
		return DriverManager.getConnection(this.url, this.username, "");
	}

	private long number(String sql, String... parameters) throws SQLException {
		try (Connection connection = connect(); PreparedStatement statement = connection.prepareStatement(sql)) {
			for (int i = 0; i < parameters.length; i++) {
				statement.setString(i + 1, parameters[i]);
			}
			try (ResultSet result = statement.executeQuery()) {
				result.next();
				return result.getLong(1);
			}
		}
	}

	@Override
	public void close() throws IOException {
		this.server.close();
	}

}
