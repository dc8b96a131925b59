package io.github.holdfast.store.session;

import java.lang.reflect.Method;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The auto-commit mode as the user of a lent connection sees it. The real one may still
 * be the other one as long as nothing depends on it: MySQL and MariaDB take a round trip
 * for each switch, and the transactions that run under a lock one after the other all
 * need the same.
 *
 * <p>
 * It is never put off while there may be something to commit, nor while a statement is
 * open that could be executed without the connection being asked.
 */
final class LentAutoCommit {

	private final AutoCommitMode real;

	private final List<Statement> statements = new ArrayList<>();

	private boolean value;

	/** Whether nothing has been done in the user's mode yet. */
	private boolean putOff = true;

	/** Whether something was done since the last commit or rollback. */
	private boolean unfinished;

	/** Whether the user may have got hold of the connection behind this one. */
	private boolean bypassed;

	LentAutoCommit(AutoCommitMode real) {
		this.real = real;
		this.value = real.initial();
	}

	boolean get() {
		return this.value;
	}

	void set(boolean value) throws SQLException {
		if (value != this.value && value && canBePutOff()) {
			this.putOff = true;
		}
		else if (value != this.value || !this.putOff) {
			this.real.need(value);
			this.putOff = false;
		}
		this.value = value;
	}

	private boolean canBePutOff() throws SQLException {
		forgetClosedStatements();
		return this.real.isSent() && !this.unfinished && !this.bypassed && this.statements.isEmpty();
	}

	private void forgetClosedStatements() throws SQLException {
		for (int i = this.statements.size() - 1; i >= 0; i--) {
			if (this.statements.get(i).isClosed()) {
				this.statements.remove(i);
			}
		}
	}

	/**
	 * The connection is about to be used.
	 */
	void beforeUse() throws SQLException {
		if (this.putOff) {
			this.real.need(this.value);
			this.putOff = false;
		}
		this.unfinished = true;
	}

	/**
	 * The connection has been used, and nothing has failed.
	 */
	void afterUse(Method method, @Nullable Object result) throws SQLException {
		String name = method.getName();
		if (name.equals("commit") || (name.equals("rollback") && method.getParameterCount() == 0)) {
			this.unfinished = false;
		}
		this.bypassed |= name.equals("unwrap") || name.equals("getMetaData");
		if (result instanceof Statement statement) {
			forgetClosedStatements();
			this.statements.add(statement);
		}
	}

	/**
	 * End what the user has left open.
	 * @return whether the user has done nothing since, so that there is nothing to roll
	 * back
	 */
	boolean end() throws SQLException {
		for (Statement statement : this.statements) {
			statement.close();
		}
		return this.putOff;
	}

}
