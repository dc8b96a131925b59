package io.github.holdfast.core;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.UUID;

import org.springframework.util.function.SingletonSupplier;

/**
 * Random owners for acquisitions, and a description of who asks. The operating system
 * creates each owner, because two JVMs that were restored from one image (CRaC, a
 * snapshot of a virtual machine) would continue with the same sequence.
 */
public final class LockOwner {

	private static final String[] UNBUFFERED = { "NativePRNGNonBlocking", "Windows-PRNG" };

	private static final SecureRandom OPERATING_SYSTEM = operatingSystem();

	private static final SingletonSupplier<String> PROCESS = SingletonSupplier.of(LockOwner::process);

	private LockOwner() {
	}

	/**
	 * A text that no other acquisition has.
	 * @return a random UUID
	 */
	public static String random() {
		ByteBuffer bits = ByteBuffer.wrap(OPERATING_SYSTEM.generateSeed(2 * Long.BYTES));
		return new UUID(bits.getLong(), bits.getLong()).toString();
	}

	/**
	 * A number that no other acquisition has.
	 * @return 64 random bits
	 */
	public static long randomNumber() {
		return ByteBuffer.wrap(OPERATING_SYSTEM.generateSeed(Long.BYTES)).getLong();
	}

	/**
	 * Describes the current thread.
	 * @return its process, host and name
	 */
	static String currentThread() {
		return PROCESS.obtain() + Thread.currentThread().getName();
	}

	private static String process() {
		return ProcessHandle.current().pid() + "@" + host() + " ";
	}

	private static String host() {
		try {
			return InetAddress.getLocalHost().getHostName();
		}
		catch (UnknownHostException ex) {
			return "unknown-host";
		}
	}

	private static SecureRandom operatingSystem() {
		for (String algorithm : UNBUFFERED) {
			try {
				return SecureRandom.getInstance(algorithm);
			}
			catch (NoSuchAlgorithmException ex) {
				// Another operating system
			}
		}
		return new SecureRandom();
	}

}
