package io.github.holdfast.testsupport;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.datasource.init.ScriptUtils;

public record DatabaseAccess(String url, String user, String password) {

	private static final Pattern PORT = Pattern.compile("(?<=//localhost:)\\d+");

	/**
	 * Opens a connection pool, to be closed by the test. It opens connections only when
	 * they are asked for, which may block, and checks that the thread may do that.
	 */
	public HikariDataSource dataSource(int poolSize) {
		return dataSource(poolSize, (config) -> {
		});
	}

	public HikariDataSource dataSource(int poolSize, Consumer<HikariConfig> settings) {
		HikariConfig config = new HikariConfig();
		config.setJdbcUrl(this.url);
		config.setUsername(this.user);
		config.setPassword(this.password);
		config.setMaximumPoolSize(poolSize);
		config.setMinimumIdle(0);
		config.setConnectionTimeout(Duration.ofSeconds(30).toMillis());
		settings.accept(config);
		return new HikariDataSource(config) {

			@Override
			public Connection getConnection() throws SQLException {
				SparedThreads.check("A connection is asked for");
				return super.getConnection();
			}

		};
	}

	public int port() {
		Matcher matcher = PORT.matcher(this.url);
		if (!matcher.find()) {
			throw new IllegalStateException("No port in " + this.url);
		}
		return Integer.parseInt(matcher.group());
	}

	public DatabaseAccess onPort(int port) {
		return new DatabaseAccess(this.url.replace("//localhost:" + port(), "//localhost:" + port), this.user,
				this.password);
	}

	/** The same with parameters at the end of the URL. */
	public DatabaseAccess with(String parameters) {
		return new DatabaseAccess(this.url + parameters, this.user, this.password);
	}

	/** Executes statements, each of which is committed. */
	public void execute(String... statements) {
		try (Connection connection = DriverManager.getConnection(this.url, this.user, this.password);
				Statement statement = connection.createStatement()) {
			for (String sql : statements) {
				statement.execute(sql);
			}
		}
		catch (SQLException ex) {
			throw new IllegalStateException("The database refuses " + List.of(statements), ex);
		}
	}

	/** The same with a wait of a second for a row of H2, which knows no other limit. */
	public DatabaseAccess impatient() {
		return new DatabaseAccess(this.url.replaceFirst("LOCK_TIMEOUT=\\d+", "LOCK_TIMEOUT=1000"), this.user,
				this.password);
	}

	public static void runScript(DataSource dataSource, String path) {
		try (Connection connection = dataSource.getConnection()) {
			ScriptUtils.executeSqlScript(connection, new ClassPathResource(path));
			if (!connection.getAutoCommit()) {
				connection.commit();
			}
		}
		catch (SQLException ex) {
			throw new IllegalStateException("Failed to run " + path, ex);
		}
	}

}
