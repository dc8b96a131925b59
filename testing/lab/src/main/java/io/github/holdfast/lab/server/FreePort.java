package io.github.holdfast.lab.server;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Finds ports for the servers.
 */
public final class FreePort {

	private static final int MIN = 20_000;

	/**
	 * Above are the ports of clients, one of whom could take that of a stopped server, or
	 * of one that is still to start.
	 */
	private static final int MAX = 32_000;

	private FreePort() {
	}

	public static int find() {
		int port;
		do {
			port = ThreadLocalRandom.current().nextInt(MIN, MAX);
		}
		while (!isFree(port));
		return port;
	}

	private static boolean isFree(int port) {
		try {
			new ServerSocket(port, 1, InetAddress.getLoopbackAddress()).close();
			return true;
		}
		catch (IOException ex) {
			return false;
		}
	}

}
