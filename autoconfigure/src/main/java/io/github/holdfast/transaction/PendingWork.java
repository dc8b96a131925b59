package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

import org.h2.engine.SessionLocal;
import org.h2.jdbc.JdbcConnection;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.util.ClassUtils;

import io.github.holdfast.sql.OpenTransaction;

/**
 * What has been done on a connection that is not in auto-commit mode since its last
 * commit. JDBC does not tell, but some drivers know from each answer of the database
 * whether a transaction is open. Does no I/O.
 */
final class PendingWork {

	private static final List<String> HARMLESS = List.of("org.springframework.jdbc.", "org.springframework.orm.",
			"org.mybatis.spring.");

	/** Of a class of callbacks, whether it may work in the database. */
	private static final ClassValue<Boolean> WORKING = new ClassValue<>() {

		@Override
		protected Boolean computeValue(Class<?> type) {
			return HARMLESS.stream().noneMatch(type.getName()::startsWith);
		}

	};

	private static final boolean H2 = ClassUtils.isPresent("org.h2.jdbc.JdbcConnection",
			PendingWork.class.getClassLoader());

	private PendingWork() {
	}

	/**
	 * Whether a callback at the end of a transaction may work in the database. Those by
	 * which Spring and MyBatis clean up do not.
	 */
	static boolean mayComeFrom(TransactionSynchronization callback) {
		return WORKING.get(callback.getClass());
	}

	/**
	 * Whether a transaction may be open on a connection.
	 * @return {@code true} also if the driver does not tell
	 */
	static boolean mayBeOn(Connection connection) throws SQLException {
		if (H2 && connection.isWrapperFor(JdbcConnection.class)
				&& connection.unwrap(JdbcConnection.class).getSession() instanceof SessionLocal session) {
			return session.hasPendingTransaction();
		}
		return OpenTransaction.mayBeOn(connection);
	}

}
