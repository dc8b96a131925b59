package io.github.holdfast.core;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Names the owner of each acquisition: a UUID that no other acquisition on any node has.
 * The operating system makes it at that moment. Nothing of it is kept in this JVM,
 * neither a sequence nor a buffer, as two JVMs that were restored from one image (CRaC,
 * the snapshot of a machine) would go on with the same one.
 */
final class LockOwner {

	/** Their seeds come from the operating system each time, and are not waited for. */
	private static final String[] UNBUFFERED = { "NativePRNGNonBlocking", "Windows-PRNG" };

	private static final SecureRandom OPERATING_SYSTEM = operatingSystem();

	private static final long JVM = fresh().getMostSignificantBits();

	private static final AtomicLong SEQUENCE = new AtomicLong(fresh().getLeastSignificantBits());

	private static final String PROCESS = ProcessHandle.current().pid() + "@" + host() + " ";

	private LockOwner() {
	}

	static String next() {
		return fresh().toString();
	}

	/**
	 * An owner of a lock that is in this JVM and goes into no other one with it, for a
	 * tenth of the time.
	 */
	static String nextLocal() {
		return new UUID(JVM, SEQUENCE.incrementAndGet()).toString();
	}

	/**
	 * The seed, as what {@link SecureRandom} gives otherwise may be a tenth of a second
	 * old.
	 */
	private static UUID fresh() {
		ByteBuffer bits = ByteBuffer.wrap(OPERATING_SYSTEM.generateSeed(2 * Long.BYTES));
		return new UUID(bits.getLong(), bits.getLong());
	}

	private static SecureRandom operatingSystem() {
		for (String algorithm : UNBUFFERED) {
			try {
				return SecureRandom.getInstance(algorithm);
			}
			catch (NoSuchAlgorithmException ex) {
				// That of another operating system
			}
		}
		return new SecureRandom();
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
