package io.github.holdfast.transaction.attack;

import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestDatabase;

/** The databases and drivers that transactions are attacked on. */
enum Database {

	H2(TestDatabase.H2, "cast(extract(epoch from current_timestamp(6)) * 1000000 as bigint)", "SELECT session_id()",
			"SELECT abort_session(%d)",
			"SELECT count(*) FROM information_schema.sessions WHERE blocker_id IS NOT NULL"),

	POSTGRESQL(TestDatabase.POSTGRESQL, "(extract(epoch from clock_timestamp()) * 1000000)::bigint",
			"SELECT pg_backend_pid()", "SELECT pg_terminate_backend(%d)",
			"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"),

	MARIADB(TestDatabase.MARIADB, "timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(6))",
			"SELECT connection_id()", "KILL %d",
			"SELECT count(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'"),

	/** MariaDB by the driver of MySQL. */
	CONNECTOR_J(TestDatabase.MARIADB, MARIADB.now, MARIADB.session, MARIADB.kill, MARIADB.waiting);

	private final TestDatabase server;

	final String now;

	final String session;

	final String kill;

	final String waiting;

	Database(TestDatabase server, String now, String session, String kill, String waiting) {
		this.server = server;
		this.now = now;
		this.session = session;
		this.kill = kill;
		this.waiting = waiting;
	}

	DatabaseAccess create() {
		DatabaseAccess access = this.server.newDatabase();
		return (this == CONNECTOR_J) ? new DatabaseAccess(access.url().replace("jdbc:mariadb:", "jdbc:mysql:"),
				access.user(), access.password()) : access;
	}

}
