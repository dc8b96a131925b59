package io.github.holdfast.sample.wms.proof;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestDatabase;

/**
 * An empty database, and what a test reads from it behind the application's back.
 *
 * @param type what it is
 * @param access how to connect
 */
record StockDatabase(TestDatabase type, DatabaseAccess access) {

	static StockDatabase create(TestDatabase type) {
		return new StockDatabase(type, type.newRemoteDatabase());
	}

	String name() {
		return this.type.platform();
	}

	List<String> arguments() {
		return List.of("--spring.datasource.url=" + this.access.url(),
				"--spring.datasource.username=" + this.access.user(),
				"--spring.datasource.password=" + this.access.password());
	}

	long stock(String customerNo, String sku) throws SQLException {
		return number("select available_inventory from tb_inventory where customer_no = ? and sku = ?", customerNo,
				sku);
	}

	long confirmed(String customerNo) throws SQLException {
		return number("select count(*) from outbound_order where customer_no = ? and status = 'CONFIRMED'", customerNo);
	}

	/**
	 * How many pieces all buyers have together.
	 */
	long bought(String customerNo) throws SQLException {
		return number("select coalesce(sum(quantity), 0) from purchase where customer_no = ?", customerNo);
	}

	/**
	 * How many pieces the buyer has who has most.
	 */
	long boughtByOne(String customerNo) throws SQLException {
		return number("select coalesce(max(bought), 0) from (select sum(quantity) as bought from purchase "
				+ "where customer_no = ? group by buyer_no) buyers", customerNo);
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
		return number(switch (this.type) {
			case H2 -> "select count(*) from information_schema.sessions where blocker_id is not null";
			case MARIADB -> "select variable_value from information_schema.global_status "
					+ "where variable_name = 'innodb_row_lock_current_waits'";
			case POSTGRESQL -> "select count(*) from pg_locks where not granted";
		});
	}

	private Connection connect() throws SQLException {
		return DriverManager.getConnection(this.access.url(), this.access.user(), this.access.password());
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

}
