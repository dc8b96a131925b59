package io.github.holdfast.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.sql.LockConnections;
import io.github.holdfast.sql.SqlDialect;

/**
 * Deletes the rows of locks that nobody has used for long: those that have been free, or
 * whose lease has run out, for a given time by the database's clock.
 *
 * <p>
 * Walks through the table by its primary key, in pages. Each page is a short transaction
 * that reads the page without locks, locks the idle rows among it that nobody else has
 * locked, and deletes those that are still idle. So it never waits for a lock statement
 * or a commit, and none waits for it longer than for one page. A holder whose row is gone
 * cannot commit at {@code fence}, since its check finds no row. Rows whose epoch is ahead
 * of the clock stay, so that the next epoch of a deleted one is a later one.
 *
 * <p>
 * A lease that was renewed lately is in use, however old its row is. Renewals are looked
 * for when the row is locked, so none is overlooked. Then the table of the renewals is
 * walked through in the same way: what is left there of leases that have ended is
 * deleted.
 *
 * @since 0.2.0
 */
public final class JdbcLockPurge {

	private static final int PAGE_SIZE = 200;

	private static final String PAGE = """
			SELECT lock_key, CASE WHEN {old} AND {unused} THEN 1 ELSE 0 END FROM {table}
			WHERE lock_key > ? ORDER BY lock_key LIMIT {size}""";

	private static final String LOCK = """
			SELECT lock_key FROM {table}
			WHERE lock_key IN ({keys}) AND {old}
			FOR UPDATE SKIP LOCKED""";

	private static final String OLD_LOCK = "expires_at < {now} - {after} AND epoch < {now} - {after}";

	private static final String NOT_RENEWED = """
			NOT EXISTS (SELECT 1 FROM holdfast_renewal r WHERE r.lock_key = holdfast_lock.lock_key
				AND r.epoch = holdfast_lock.epoch AND r.owner = holdfast_lock.owner
				AND r.expires_at >= {now} - {after})""";

	private static final String DELETE_LOCK = "DELETE FROM holdfast_lock WHERE lock_key = ? AND " + NOT_RENEWED;

	private static final String OLD_RENEWAL = "expires_at < {now} - {after}";

	private static final String NOT_HELD = """
			NOT EXISTS (SELECT 1 FROM holdfast_lock l WHERE l.lock_key = holdfast_renewal.lock_key
				AND l.epoch = holdfast_renewal.epoch AND l.owner = holdfast_renewal.owner)""";

	/** The lock row is not looked at again, as a lease that has ended does not return. */
	private static final String DELETE_RENEWAL = "DELETE FROM holdfast_renewal WHERE lock_key = ?";

	private static final String[] CHECK = { "DELETE FROM holdfast_lock WHERE 1 = 0",
			"DELETE FROM holdfast_renewal WHERE 1 = 0" };

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	private final LockConnections<Statements> connections;

	/**
	 * Create a purge.
	 * @param dataSource supplies the database, at the first use
	 * @param purgeAfter how long the row of a lock is kept after its last use
	 */
	public JdbcLockPurge(Supplier<DataSource> dataSource, Duration purgeAfter) {
		this.connections = new LockConnections<>(dataSource, (dialect) -> Statements.of(dialect, purgeAfter));
	}

	/**
	 * Check that rows may be deleted, without deleting any.
	 * @throws SQLException if not
	 */
	public void check() throws SQLException {
		this.connections.execute(CHECK);
	}

	/**
	 * Go through the whole table once, and through that of the renewals.
	 * @param goOn asked before each page whether to go on
	 * @return how many rows of locks were deleted
	 * @throws SQLException if the database fails; what was deleted before stays deleted
	 */
	public int run(BooleanSupplier goOn) throws SQLException {
		check();
		int deleted = walk(Statements::locks, goOn);
		walk(Statements::renewals, goOn);
		return deleted;
	}

	private int walk(Function<Statements, Table> table, BooleanSupplier goOn) throws SQLException {
		int deleted = 0;
		Object last = null;
		while (goOn.getAsBoolean()) {
			Object after = last;
			Page page = this.connections.inTransaction((connection, statements) -> purge(connection,
					statements.dialect(), table.apply(statements), after));
			deleted += page.deleted();
			last = page.last();
			if (last == null) {
				break;
			}
		}
		return deleted;
	}

	/**
	 * Whether a failure says that the user of the database may not do it.
	 * @param ex the failure
	 * @return {@code true} if a privilege is missing
	 */
	public boolean isDenied(SQLException ex) {
		return this.connections.is(ex, SqlDialect::isDenied);
	}

	private static Page purge(Connection connection, SqlDialect dialect, Table table, @Nullable Object after)
			throws SQLException {
		List<Object> idle = new ArrayList<>();
		Object last = null;
		try (PreparedStatement statement = LockConnections.prepare(connection, table.page(), TIMEOUT)) {
			// The keys as the driver gave them, since other rows than ours may be there
			if (after != null) {
				statement.setObject(1, after);
			}
			else {
				dialect.setKey(statement, 1, "");
			}
			try (ResultSet rs = statement.executeQuery()) {
				int size = 0;
				while (rs.next()) {
					if (rs.getInt(2) == 1) {
						idle.add(rs.getObject(1));
					}
					last = (++size == PAGE_SIZE) ? rs.getObject(1) : null;
				}
			}
		}
		return new Page(idle.isEmpty() ? 0 : delete(connection, table, lock(connection, table, idle)), last);
	}

	private static List<Object> lock(Connection connection, Table table, List<Object> idle) throws SQLException {
		List<Object> locked = new ArrayList<>();
		try (PreparedStatement statement = LockConnections.prepare(connection, table.lock(), TIMEOUT)) {
			for (int i = 0; i < PAGE_SIZE; i++) {
				statement.setObject(i + 1, idle.get(Math.min(i, idle.size() - 1)));
			}
			try (ResultSet rs = statement.executeQuery()) {
				while (rs.next()) {
					locked.add(rs.getObject(1));
				}
			}
		}
		return locked;
	}

	private static int delete(Connection connection, Table table, List<Object> locked) throws SQLException {
		try (PreparedStatement statement = LockConnections.prepare(connection, table.delete(), TIMEOUT)) {
			for (Object key : locked) {
				statement.setObject(1, key);
				statement.addBatch();
			}
			// Not those that were renewed just before they were locked
			return (int) Arrays.stream(statement.executeBatch()).filter((count) -> count != 0).count();
		}
	}

	/**
	 * What was done with a page.
	 *
	 * @param deleted how many rows were deleted
	 * @param last the last key of the page, or {@code null} if the table ends there
	 */
	private record Page(int deleted, @Nullable Object last) {
	}

	/**
	 * The statements in the words of a database.
	 *
	 * @param dialect the dialect of the database
	 * @param locks the statements on the lock table
	 * @param renewals the statements on the table of the renewals
	 */
	private record Statements(SqlDialect dialect, Table locks, Table renewals) {

		private static Statements of(SqlDialect dialect, Duration purgeAfter) {
			UnaryOperator<String> times = (sql) -> sql.replace("{now}", dialect.now())
				.replace("{after}", Long.toString(TimeUnit.MICROSECONDS.convert(purgeAfter)));
			return new Statements(dialect, Table.of("holdfast_lock", OLD_LOCK, NOT_RENEWED, DELETE_LOCK, times),
					Table.of("holdfast_renewal", OLD_RENEWAL, NOT_HELD, DELETE_RENEWAL, times));
		}

	}

	/**
	 * The statements on a table.
	 *
	 * @param page reads a page
	 * @param lock locks the rows of a page that are old
	 * @param delete deletes a row that is locked, unless it turns out to be in use
	 */
	private record Table(String page, String lock, String delete) {

		private static Table of(String table, String old, String unused, String delete, UnaryOperator<String> times) {
			String page = PAGE.replace("{unused}", unused).replace("{size}", Integer.toString(PAGE_SIZE));
			String lock = LOCK.replace("{keys}", String.join(", ", Collections.nCopies(PAGE_SIZE, "?")));
			UnaryOperator<String> resolve = (sql) -> times.apply(sql.replace("{table}", table).replace("{old}", old));
			return new Table(resolve.apply(page), resolve.apply(lock), resolve.apply(delete));
		}

	}

}
