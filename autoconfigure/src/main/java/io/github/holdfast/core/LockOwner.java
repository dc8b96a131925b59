package io.github.holdfast.core;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.util.function.SingletonSupplier;

import io.github.holdfast.LockException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;

/**
 * The owner of an acquisition: a UUID that no other acquisition on any node has. The
 * operating system makes it when a store asks for it. Nothing of it is kept in this JVM,
 * neither a sequence nor a buffer, as two JVMs that were restored from one image (CRaC,
 * the snapshot of a machine) would go on with the same one.
 */
final class LockOwner implements LockRequest.Identity {

	/** Their seeds come from the operating system each time, and are not waited for. */
	private static final String[] UNBUFFERED = { "NativePRNGNonBlocking", "Windows-PRNG" };

	private static final SecureRandom OPERATING_SYSTEM = operatingSystem();

	/** Of the locks that a thread holds already. */
	private static final int MOST_TOLD = 3;

	/** Asked for once. */
	private static volatile Supplier<String> process = SingletonSupplier.of(LockOwner::process);

	private final Thread thread = Thread.currentThread();

	private final String holding;

	private @Nullable String owner;

	private LockOwner(String holding) {
		this.holding = holding;
	}

	/**
	 * The owner of an acquisition by the current thread.
	 * @param name the name of the lock that it asks for
	 */
	static LockOwner ofCurrentThread(String name) {
		return new LockOwner((LockStack.current() != null) ? holding(name) : "");
	}

	@Override
	public synchronized String owner() {
		String owner = this.owner;
		if (owner == null) {
			owner = fresh().toString();
			this.owner = owner;
		}
		return owner;
	}

	/**
	 * Process, host, thread, and locks that it holds already.
	 */
	@Override
	public String holder() {
		return process.get() + this.thread.getName() + this.holding;
	}

	@Override
	public String toString() {
		return holder();
	}

	/**
	 * Ask for process and host again: this may be another one, restored from an image.
	 */
	static void forgetProcess() {
		process = SingletonSupplier.of(LockOwner::process);
	}

	private static String process() {
		return ProcessHandle.current().pid() + "@" + host() + " ";
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
	 * Other nodes learn from it in which order locks are taken, and where. Optimistic
	 * ones hold nothing.
	 */
	private static String holding(String name) {
		String keys = LockStack.all()
			.stream()
			.filter((lock) -> lock.mode() != LockRequest.Mode.OPTIMISTIC)
			.flatMap((lock) -> lock.leases().stream())
			.map(LockLease::key)
			.distinct()
			.limit(MOST_TOLD)
			.map(LockException::quote)
			.collect(Collectors.joining(", "));
		return keys.isEmpty() ? "" : ", holding " + keys + " in " + LockException.quote(name);
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
