package io.github.holdfast;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.SecureRandom;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Names the owner of each acquisition: a UUID that no other acquisition on any node has,
 * made of 64 random bits of this JVM and a counter that starts at random.
 */
final class LockOwner {

	private static final long JVM;

	private static final AtomicLong SEQUENCE;

	private static final String PROCESS = ProcessHandle.current().pid() + "@" + host() + " ";

	static {
		SecureRandom random = new SecureRandom();
		JVM = random.nextLong();
		SEQUENCE = new AtomicLong(random.nextLong());
	}

	private LockOwner() {
	}

	static String next() {
		return new UUID(JVM, SEQUENCE.incrementAndGet()).toString();
	}

	/**
	 * Describes the current thread for an operator.
	 * @return process, host and thread
	 */
	static String holder() {
		return PROCESS + Thread.currentThread().getName();
	}

	private static String host() {
		try {
			return InetAddress.getLocalHost().getHostName();
		}
		catch (UnknownHostException ex) {
			return "unknown-host";
		}
	}

}
