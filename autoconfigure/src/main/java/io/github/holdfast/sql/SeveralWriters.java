package io.github.holdfast.sql;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

/**
 * Clusters whose servers all take writes. Each knows only its own row locks and sessions,
 * and finds conflicts with the others at the COMMIT, of rows that were written.
 *
 * @since 0.2.0
 */
public final class SeveralWriters {

	private static final String ASK = "SHOW GLOBAL VARIABLES WHERE Variable_name IN "
			+ "('wsrep_on', 'group_replication_group_name', 'group_replication_single_primary_mode')";

	private SeveralWriters() {
	}

	/**
	 * Ask a database whether it is such a cluster.
	 * @param dataSource supplies the database
	 * @return the cluster and how it is known, for a sentence, or {@code null} if there
	 * is one writer
	 * @throws SQLException if the database cannot be asked
	 */
	public static @Nullable String of(Supplier<DataSource> dataSource) throws SQLException {
		return new LockConnections<SqlDialect>(dataSource, UnaryOperator.identity())
			.<@Nullable String>call(SeveralWriters::of);
	}

	private static @Nullable String of(Connection connection, SqlDialect dialect) throws SQLException {
		if (dialect != SqlDialect.MARIADB && dialect != SqlDialect.MYSQL) {
			return null;
		}
		Map<String, String> variables = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
		try (PreparedStatement statement = connection.prepareStatement(ASK); ResultSet rs = statement.executeQuery()) {
			while (rs.next()) {
				variables.put(rs.getString(1), rs.getString(2));
			}
		}
		if (isOn(variables.get("wsrep_on"))) {
			return "a Galera cluster ('wsrep_on' is on)";
		}
		String group = variables.getOrDefault("group_replication_group_name", "");
		return !group.isEmpty() && !isOn(variables.get("group_replication_single_primary_mode"))
				? "a group of MySQL with several primaries ('group_replication_single_primary_mode' is off)" : null;
	}

	private static boolean isOn(@Nullable String value) {
		return value != null && value.toUpperCase(Locale.ROOT).matches("ON|1");
	}

}
