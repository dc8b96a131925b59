package io.github.holdfast.testsupport;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Ports for servers that listen some time later, or again after a while. The system gives
 * none of them to a connection in the meantime, and Redis servers take lower ones.
 */
final class LocalPorts {

	private static final int FIRST = 27_000;

	private static final int COUNT = 5_000;

	private static final AtomicInteger next = new AtomicInteger(ThreadLocalRandom.current().nextInt(COUNT));

	private LocalPorts() {
	}

	/**
	 * A port on which nobody listens, another one with each call.
	 */
	static int free() {
		for (int i = 0; i < COUNT; i++) {
			int port = FIRST + Math.floorMod(next.getAndIncrement(), COUNT);
			if (isFree(port)) {
				return port;
			}
		}
		throw new IllegalStateException("There is no free port");
	}

	static boolean isFree(int port) {
		try {
			new ServerSocket(port, 1, InetAddress.getLoopbackAddress()).close();
			return true;
		}
		catch (IOException ex) {
			return false;
		}
	}

}
