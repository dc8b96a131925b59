package io.github.holdfast;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.UUID;

import org.springframework.util.Assert;
import org.springframework.util.function.SingletonSupplier;

/**
 * One acquisition of one key.
 *
 * @param key the stored key: the prefix and the key of the caller
 * @param name the name of the lock, for logs
 * @param mode {@link LockMode#EXCLUSIVE} or {@link LockMode#SHARED}
 * @param fair whether the waiters of all nodes are served in the order of their arrival
 * @param waitTime how long to wait; zero means one attempt
 * @param leaseTime how long the lock lives without a renewal
 * @param owner who acquires it
 */
public record LockRequest(String key, String name, LockMode mode, boolean fair, Duration waitTime, Duration leaseTime,
		Owner owner) {

	public LockRequest {
		Assert.hasText(key, "Lock key must not be blank");
		Assert.hasText(name, "Lock name must not be blank");
		Assert.isTrue(!waitTime.isNegative(), "Wait time must not be negative");
		Assert.isTrue(!leaseTime.isNegative() && !leaseTime.isZero(), "Lease time must be positive");
		Assert.isTrue(key.equals(new String(key.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8)),
				"Lock key contains half of a surrogate pair, which stores would merge with other keys");
	}

	/**
	 * Who acquires a lock: a random id, and a description for messages. The operating
	 * system creates each id, because two JVMs that were restored from one image (CRaC, a
	 * snapshot of a virtual machine) would continue with the same sequence. Safe for use
	 * by many threads.
	 */
	public static final class Owner {

		private static final String[] UNBUFFERED = { "NativePRNGNonBlocking", "Windows-PRNG" };

		private static final SecureRandom OPERATING_SYSTEM = operatingSystem();

		private static final SingletonSupplier<String> PROCESS = SingletonSupplier
			.of(() -> ProcessHandle.current().pid() + "@" + host() + " ");

		private final String description;

		private final SingletonSupplier<String> id = SingletonSupplier.of(Owner::randomText);

		/**
		 * Create an owner.
		 * @param description who it is
		 */
		public Owner(String description) {
			this.description = description;
		}

		/**
		 * Creates an owner that is described by the process, the host and the current
		 * thread.
		 * @return the owner
		 */
		public static Owner currentThread() {
			return new Owner(PROCESS.obtain() + Thread.currentThread().getName());
		}

		/**
		 * An id that no other acquisition has. It is created when a store first asks for
		 * it.
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

}
