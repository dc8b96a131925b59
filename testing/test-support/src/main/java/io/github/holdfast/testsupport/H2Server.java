package io.github.holdfast.testsupport;

import java.sql.SQLException;

import org.h2.tools.Server;

/** Lets other processes connect to the in-memory databases of this JVM. */
final class H2Server {

	private static final int PORT = start();

	private H2Server() {
	}

	private static int start() {
		try {
			// Without -ifNotExists remote users would be refused a database whose last
			// connection was closed
			return Server.createTcpServer("-tcpPort", "0", "-tcpDaemon", "-ifNotExists").start().getPort();
		}
		catch (SQLException ex) {
			throw new IllegalStateException("H2 did not start", ex);
		}
	}

	static DatabaseAccess remote(DatabaseAccess local) {
		return new DatabaseAccess(local.url().replace("jdbc:h2:mem:", "jdbc:h2:tcp://localhost:" + PORT + "/mem:"),
				local.user(), local.password());
	}

}
