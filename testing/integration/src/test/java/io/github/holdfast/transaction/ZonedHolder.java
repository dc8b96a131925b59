package io.github.holdfast.transaction;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.List;

import com.zaxxer.hikari.HikariDataSource;

import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.LockManager;
import io.github.holdfast.store.jdbc.JdbcLockBackend;
import io.github.holdfast.testsupport.DatabaseAccess;

/**
 * A node in another time zone: holds the lock from one line on its standard input to the
 * next.
 */
final class ZonedHolder {

	private ZonedHolder() {
	}

	public static void main(String[] args) throws IOException {
		BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
		try (HikariDataSource dataSource = dataSource(new DatabaseAccess(args[0], args[1], args[2]), args[3])) {
			LockManager locksManager = new LockManager(new JdbcLockBackend(() -> dataSource));
			LockTemplate locks = new LockTemplate(locksManager);
			try {
				for (String line = input.readLine(); line != null; line = input.readLine()) {
					try {
						locks.withWaitTime(Duration.parse(line)).run("key", () -> {
							System.out.println("HELD");
							input.readLine();
						});
						System.out.println("RELEASED");
					}
					catch (LockNotAcquiredException ex) {
						System.out.println("BUSY " + ex.getMessage());
					}
				}
			}
			finally {
				locksManager.close();
			}
		}
	}

	static HikariDataSource dataSource(DatabaseAccess access, String timeZone) {
		HikariDataSource dataSource = new HikariDataSource();
		dataSource.setJdbcUrl(access.url());
		dataSource.setUsername(access.user());
		dataSource.setPassword(access.password());
		dataSource.setMaximumPoolSize(2);
		dataSource.setConnectionInitSql(timeZone);
		return dataSource;
	}

}
