package io.github.holdfast.chaos;

import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestDatabase;

/**
 * Where the business data of a run are, and by which driver: each as a server over TCP.
 */
enum Database {

	POSTGRESQL(TestDatabase.POSTGRESQL, "postgresql", "?socketTimeout=5&connectTimeout=2", """
			SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()""",
			" AND state LIKE 'idle%'", "SELECT pg_terminate_backend(%s)"),

	MARIADB(TestDatabase.MARIADB, "mysql", "?socketTimeout=5000&connectTimeout=2000&sessionVariables=", """
			SELECT id FROM information_schema.processlist WHERE db = database() AND id <> connection_id()""",
			" AND command = 'Sleep'", "KILL %s"),

	/** MariaDB with the driver of MySQL. */
	CONNECTOR_J(TestDatabase.MARIADB, "mysql",
			"?sslMode=DISABLED&socketTimeout=5000&connectTimeout=2000&sessionVariables=", MARIADB.sessions,
			MARIADB.idle, MARIADB.kill),

	H2(TestDatabase.H2, "h2", "", """
			SELECT session_id FROM information_schema.sessions WHERE session_id <> session_id()""",
			" AND executing_statement IS NULL", "CALL abort_session(%s)");

	private final TestDatabase server;

	private final String script;

	private final String settings;

	final String sessions;

	/** Those only that are idle. */
	final String idle;

	/** Ends one of them. */
	final String kill;

	Database(TestDatabase server, String script, String settings, String sessions, String idle, String kill) {
		this.server = server;
		this.script = script;
		this.settings = settings;
		this.sessions = sessions;
		this.idle = idle;
		this.kill = kill;
	}

	DatabaseAccess create() {
		return this.server.newRemoteDatabase();
	}

	String schema() {
		return "io/github/holdfast/jdbc/schema-" + this.script + ".sql";
	}

	/** How a node connects through its proxy, without waiting for ever for an answer. */
	DatabaseAccess through(int port, DatabaseAccess access, Isolation isolation) {
		String url = access.onPort(port).impatient().url() + this.settings;
		if (this == CONNECTOR_J) {
			url = url.replace("jdbc:mariadb:", "jdbc:mysql:");
		}
		if (this.server == TestDatabase.MARIADB) {
			url += "innodb_lock_wait_timeout=4"
					+ ((isolation == Isolation.SNAPSHOT) ? ",innodb_snapshot_isolation=ON" : "");
		}
		return new DatabaseAccess(url, access.user(), access.password());
	}

	boolean suffers(Fault.Kind fault) {
		return this != H2 || !fault.needsCommit();
	}

}
