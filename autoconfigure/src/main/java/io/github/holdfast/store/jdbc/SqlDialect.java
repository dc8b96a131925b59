package io.github.holdfast.store.jdbc;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.util.Set;

import io.github.holdfast.LockConfigurationException;

/**
 * What the databases do differently.
 */
public enum SqlDialect {

	POSTGRESQL(Set.of("PostgreSQL"), "(extract(epoch from clock_timestamp()) * 1000000)::bigint", "",
			" ON CONFLICT DO NOTHING", Set.of("25P02", "40001", "40P01", "55P03", "57014"), Set.of("42501")) {

		@Override
		void setKey(PreparedStatement statement, int index, String id) throws SQLException {
			statement.setString(index, id);
		}

		@Override
		String code(SQLException ex) {
			return String.valueOf(ex.getSQLState());
		}

	},

	/** MariaDB and MySQL. Their row locks end before the commit is durable. */
	MYSQL(Set.of("MariaDB", "MySQL"), "timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(6))", " IGNORE",
			"", Set.of("1205", "1213", "1020", "1317", "1969", "3024"), Set.of("1142", "1143")),

	/** Its clock stands still inside a transaction. */
	H2(Set.of("H2"), "cast(extract(epoch from current_timestamp(6)) * 1000000 as bigint)", "", "",
			Set.of("40001", "50200", "90131"), Set.of("90096"));

	private final Set<String> products;

	private final String now;

	private final String insertModifier;

	private final String insertSuffix;

	private final Set<String> transientCodes;

	private final Set<String> deniedCodes;

	SqlDialect(Set<String> products, String now, String insertModifier, String insertSuffix, Set<String> transientCodes,
			Set<String> deniedCodes) {
		this.products = products;
		this.now = now;
		this.insertModifier = insertModifier;
		this.insertSuffix = insertSuffix;
		this.transientCodes = transientCodes;
		this.deniedCodes = deniedCodes;
	}

	/**
	 * The dialect of a connection.
	 * @param connection the connection
	 * @return the dialect
	 * @throws SQLException if the database failed
	 * @throws LockConfigurationException if the database is not supported
	 */
	public static SqlDialect of(Connection connection) throws SQLException {
		String product = connection.getMetaData().getDatabaseProductName();
		for (SqlDialect dialect : values()) {
			if (dialect.products.contains(product)) {
				return dialect;
			}
		}
		throw new LockConfigurationException("The database '" + product + "' cannot hold locks.",
				"Use PostgreSQL, MySQL, MariaDB or H2, or choose another backend with 'holdfast.backend'.");
	}

	/**
	 * The clock of the database in microseconds. It runs inside a transaction, except on
	 * H2.
	 */
	String now() {
		return this.now;
	}

	/**
	 * An INSERT that ignores a row that is there already. H2 has none: there it may fail
	 * with a duplicate key.
	 */
	String insert(String columns, String values) {
		return "INSERT" + this.insertModifier + " INTO holdfast_lock (" + columns + ") VALUES (" + values + ")"
				+ this.insertSuffix;
	}

	void setKey(PreparedStatement statement, int index, String id) throws SQLException {
		statement.setBytes(index, id.getBytes(StandardCharsets.UTF_8));
	}

	/**
	 * Whether a wait for a row can be ended from another thread. Without it, waiters
	 * poll.
	 */
	boolean cancelsWaits() {
		return this != H2;
	}

	/**
	 * Whether the next holder can continue before a commit is durable. Then it pays to
	 * let one more thread of this JVM wait in the database.
	 */
	public boolean freesRowsEarly() {
		return this == MYSQL;
	}

	/**
	 * Whether a deadlock rolls a transaction back that its body may survive, so that the
	 * row is asked once more before the commit.
	 * @return {@code true} for InnoDB and H2
	 */
	public boolean checksAtCommit() {
		return this != POSTGRESQL;
	}

	/**
	 * Whether a transaction of this isolation level reads what was committed while it
	 * waited for its first row.
	 * @param isolation a constant of {@link Connection}
	 * @return {@code true} if it may wait inside its snapshot
	 */
	public boolean readsFreshAfterWait(int isolation) {
		return this == MYSQL || isolation == Connection.TRANSACTION_READ_COMMITTED
				|| isolation == Connection.TRANSACTION_READ_UNCOMMITTED;
	}

	/**
	 * Whether another attempt may succeed: after a deadlock, a lock timeout or a
	 * cancelled wait.
	 */
	boolean isTransient(SQLException ex) {
		return ex instanceof SQLTimeoutException || this.transientCodes.contains(code(ex));
	}

	boolean isDuplicate(SQLException ex) {
		return code(ex).equals("23505");
	}

	boolean isDenied(SQLException ex) {
		return this.deniedCodes.contains(code(ex));
	}

	String code(SQLException ex) {
		return (ex.getErrorCode() != 0) ? String.valueOf(ex.getErrorCode()) : String.valueOf(ex.getSQLState());
	}

}
