package io.github.holdfast.core;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.UUID;

import org.springframework.util.function.SingletonSupplier;

/**
 * Who acquires a lock: a random id, and a description for messages. The operating system
 * creates each id, because two JVMs that were restored from one image (CRaC, a snapshot
 * of a virtual machine) would continue with the same sequence. Safe for use by many
 * threads.
 */
public final class LockOwner {

	private static final String[] UNBUFFERED = { "NativePRNGNonBlocking", "Windows-PRNG" };

	private static final SecureRandom OPERATING_SYSTEM = operatingSystem();

	private static final SingletonSupplier<String> PROCESS = SingletonSupplier
		.of(() -> ProcessHandle.current().pid() + "@" + host() + " ");

	private final String description;

	private final SingletonSupplier<String> id = SingletonSupplier.of(LockOwner::randomText);

	/**
	 * Create an owner.
	 * @param description who it is
	 */
	public LockOwner(String description) {
		this.description = description;
	}

	/**
	 * Creates an owner that is described by the process, the host and the current thread.
	 */
	static LockOwner currentThread() {
		return new LockOwner(PROCESS.obtain() + Thread.currentThread().getName());
	}

	/**
	 * An id that no other acquisition has. It is created when a store first asks for it.
	 * @return a random UUID
	 */
	public String id() {
		return this.id.obtain();
	}

	/**
	 * Who it is, for messages.
	 * @return the description
	 */
	public String description() {
		return this.description;
	}

	/**
	 * A number that no other acquisition has.
	 * @return 64 random bits
	 */
	public static long randomNumber() {
		return random(Long.BYTES).getLong();
	}

	private static String randomText() {
		ByteBuffer bits = random(2 * Long.BYTES);
		return new UUID(bits.getLong(), bits.getLong()).toString();
	}

	private static ByteBuffer random(int bytes) {
		return ByteBuffer.wrap(OPERATING_SYSTEM.generateSeed(bytes));
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
