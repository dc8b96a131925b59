package io.github.holdfast.testsupport;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Ports for servers that listen some time later, or again after a while. The system gives
 * none of them to a connection in the meantime, Redis servers take lower ones, and each
 * JVM has a range of its own: as long as it lives, it listens on the first port of it.
 */
final class LocalPorts {

	private static final int FIRST = 27_000;

	private static final int RANGES = 25;

	private static final int RANGE = 200;

	private static final ServerSocket claim = claim();

	private static final AtomicInteger next = new AtomicInteger();

	private LocalPorts() {
	}

	/** A port on which nobody listens, another one with each call. */
	static int free() {
		for (int i = 1; i < RANGE; i++) {
			int port = claim.getLocalPort() + 1 + Math.floorMod(next.getAndIncrement(), RANGE - 1);
			if (isFree(port)) {
				return port;
			}
		}
		throw new IllegalStateException("There is no free port");
	}

	static boolean isFree(int port) {
		try {
			listen(port).close();
			return true;
		}
		catch (IOException ex) {
			return false;
		}
	}

	private static ServerSocket claim() {
		int first = ThreadLocalRandom.current().nextInt(RANGES);
		for (int i = 0; i < RANGES; i++) {
			try {
				return listen(FIRST + (first + i) % RANGES * RANGE);
			}
			catch (IOException ex) {
				// The range of another JVM
			}
		}
		throw new IllegalStateException("Too many JVMs have taken ports");
	}

	private static ServerSocket listen(int port) throws IOException {
		return new ServerSocket(port, 1, InetAddress.getLoopbackAddress());
	}

}
