package io.github.holdfast.testsupport;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Counts the transactions that a database server has to make durable, as the server
 * itself counts them. Those that have only read are not among them, also if they were
 * committed; statements in auto-commit mode that have changed something are.
 */
public final class DurableCommits implements AutoCloseable {

	private final Connection connection;

	private final String query;

	private DurableCommits(DatabaseAccess database, String query) throws SQLException {
		this.connection = DriverManager.getConnection(database.url(), database.user(), database.password());
		this.query = query;
	}

	/**
	 * Count those of the server of a database.
	 * @param kind which kind of server
	 * @param database one of its databases
	 * @return the counter
	 * @throws SQLException if the database fails
	 */
	public static DurableCommits of(TestDatabase kind, DatabaseAccess database) throws SQLException {
		return switch (kind) {
			case MARIADB -> {
				DurableCommits commits = new DurableCommits(database,
						"SELECT count FROM information_schema.innodb_metrics WHERE name = 'trx_commits_insert_update'");
				commits.execute("SET GLOBAL innodb_monitor_enable = 'trx_commits_insert_update'");
				// Which the server would write at some time later
				commits.execute("SET GLOBAL innodb_stats_auto_recalc = OFF");
				yield commits;
			}
			// Transactions get a number when they first write or lock a row
			case POSTGRESQL -> new DurableCommits(database, "SELECT pg_snapshot_xmax(pg_current_snapshot())::text");
			case H2 -> throw new IllegalArgumentException("H2 does not count");
		};
	}

	private void execute(String sql) throws SQLException {
		try (Statement statement = this.connection.createStatement()) {
			statement.execute(sql);
		}
	}

	/**
	 * How many there were.
	 * @return the number since some time; all transactions must have ended
	 */
	public long count() {
		try (Statement statement = this.connection.createStatement();
				ResultSet rs = statement.executeQuery(this.query)) {
			rs.next();
			return rs.getLong(1);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public void close() throws SQLException {
		this.connection.close();
	}

}
