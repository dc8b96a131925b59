package io.github.holdfast.sample.wms.proof;

import java.io.Closeable;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;

import io.github.holdfast.sample.wms.mariadb.EmbeddedMariaDb;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

/**
 * A database server of its own for one test class, and what the test reads from it behind
 * the application's back.
 *
 * @param name what it is
 * @param url its URL
 * @param username who connects, without a password
 * @param server the server, closed with this
 */
record TestDatabase(String name, String url, String username, Closeable server) implements Closeable {

	static TestDatabase mariaDb() {
		EmbeddedMariaDb server = EmbeddedMariaDb.start();
		Thread shutdownHook = new Thread(server::close);
		Runtime.getRuntime().addShutdownHook(shutdownHook);
		return new TestDatabase("MariaDB", server.jdbcUrl(), "root", () -> {
			Runtime.getRuntime().removeShutdownHook(shutdownHook);
			server.close();
		});
	}

	static TestDatabase postgres() throws IOException {
		EmbeddedPostgres server = EmbeddedPostgres.start();
		return new TestDatabase("PostgreSQL", server.getJdbcUrl("postgres", "postgres"), "postgres", server);
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

	private long number(String sql, String... parameters) throws SQLException {
		try (Connection connection = DriverManager.getConnection(this.url, this.username, "");
				PreparedStatement statement = connection.prepareStatement(sql)) {
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
