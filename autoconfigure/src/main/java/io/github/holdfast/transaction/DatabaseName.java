package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.sql.OwnConnections;

/**
 * Names databases in messages: by their JDBC URLs without credentials and other
 * parameters.
 */
final class DatabaseName {

	private static final String UNKNOWN = "an unknown database";

	private static final Pattern HARMLESS = Pattern
		.compile("(jdbc:[\\w:+]+(?://)?)(?:(?<=//)[^/?@;()]*@)?([^@?;(=]*)(?:\\?.*|;[^@]*)?", Pattern.DOTALL);

	private DatabaseName() {
	}

	static String of(DataSource dataSource) {
		try (Connection connection = OwnConnections.open(dataSource)) {
			return of(connection);
		}
		catch (SQLException ex) {
			return UNKNOWN;
		}
	}

	static String of(Connection connection) throws SQLException {
		return withoutCredentials(connection.getMetaData().getURL());
	}

	/**
	 * Only the driver is named where it is not clear what the credentials are.
	 */
	static String withoutCredentials(@Nullable String url) {
		if (url == null) {
			return UNKNOWN;
		}
		Matcher matcher = HARMLESS.matcher(url);
		return matcher.matches() ? matcher.group(1) + matcher.group(2)
				: url.replaceFirst("(?s)^(jdbc:\\w+:)?.*", "$1…");
	}

}
