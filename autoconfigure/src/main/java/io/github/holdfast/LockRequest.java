package io.github.holdfast;

import java.nio.charset.StandardCharsets;
import java.time.Duration;

import org.springframework.util.Assert;

/**
 * What a {@link LockBackend} is asked for: one key, for one holder.
 *
 * @param key the stored id of the lock, prefix included
 * @param name the lock's name for logs and meters; not part of its identity
 * @param mode how the lock is shared
 * @param fair whether waiters on all nodes are served in the order of their arrival
 * @param waitTime how long to wait at most; zero means exactly one attempt
 * @param leaseTime how soon the store frees the lock when it is not renewed; ignored by
 * backends whose locks do not run out
 * @param identity who asks
 * @param minEpoch the smallest epoch that may be granted; {@code 0} unless the caller
 * knows that the store's counter went backwards
 * @param claims whether the holder will write the lock's row of the fence table itself,
 * first of all in its transaction, so that this is not needed before; stores ignore it
 * @since 0.2.0
 */
public record LockRequest(String key, String name, Mode mode, boolean fair, Duration waitTime, Duration leaseTime,
		Identity identity, long minEpoch, boolean claims) {

	/**
	 * Create a request of a holder that does not write the fence table.
	 * @param key the stored id of the lock, prefix included
	 * @param name the lock's name for logs and meters
	 * @param mode how the lock is shared
	 * @param fair whether waiters on all nodes are served in the order of their arrival
	 * @param waitTime how long to wait at most
	 * @param leaseTime how soon the store frees the lock when it is not renewed
	 * @param owner the identity of this one acquisition, unique across all nodes and
	 * never used again
	 * @param holder a text that tells an operator who holds the lock
	 * @param minEpoch the smallest epoch that may be granted
	 */
	public LockRequest(String key, String name, Mode mode, boolean fair, Duration waitTime, Duration leaseTime,
			String owner, String holder, long minEpoch) {
		this(key, name, mode, fair, waitTime, leaseTime, new Given(owner, holder), minEpoch, false);
	}

	public LockRequest {
		Assert.hasText(key, "Lock key must not be blank");
		Assert.hasText(name, "Lock name must not be blank");
		Assert.isTrue(!waitTime.isNegative(), "Wait time must not be negative");
		Assert.isTrue(!leaseTime.isNegative() && !leaseTime.isZero(), "Lease time must be positive");
		Assert.isTrue(minEpoch >= 0, "Minimum epoch must not be negative");
		Assert.isTrue(isWellFormed(key),
				"Lock key contains half of a surrogate pair, which stores would merge with other keys");
	}

	private static boolean isWellFormed(String key) {
		for (int i = 0; i < key.length(); i++) {
			if (Character.isSurrogate(key.charAt(i))) {
				return StandardCharsets.UTF_8.newEncoder().canEncode(key);
			}
		}
		return true;
	}

	/**
	 * The identity of this one acquisition, unique across all nodes and never used again.
	 * @return the same text each time
	 */
	public String owner() {
		return this.identity.owner();
	}

	/**
	 * A text that tells an operator who holds the lock.
	 * @return the text
	 */
	public String holder() {
		return this.identity.holder();
	}

	/**
	 * Returns this request with another wait time.
	 * @param waitTime how long to wait at most
	 * @return a copy
	 */
	public LockRequest withWaitTime(Duration waitTime) {
		return new LockRequest(this.key, this.name, this.mode, this.fair, waitTime, this.leaseTime, this.identity,
				this.minEpoch, this.claims);
	}

	/**
	 * Returns this request with another smallest epoch.
	 * @param minEpoch the smallest epoch that may be granted
	 * @return a copy
	 */
	public LockRequest withMinEpoch(long minEpoch) {
		return new LockRequest(this.key, this.name, this.mode, this.fair, this.waitTime, this.leaseTime, this.identity,
				minEpoch, this.claims);
	}

	/**
	 * Who asks. Making an owner takes longer than handing a lock over within a JVM, so
	 * that it is made when a store wants to know it. Safe for use by many threads.
	 */
	public interface Identity {

		/**
		 * The identity of one acquisition, unique across all nodes and never used again.
		 * @return the same text each time
		 */
		String owner();

		/**
		 * A text that tells an operator who holds the lock.
		 * @return the text
		 */
		String holder();

	}

	private record Given(String owner, String holder) implements Identity {

		Given {
			Assert.hasText(owner, "Lock owner must not be blank");
		}

	}

	/**
	 * How a lock is shared between holders.
	 */
	public enum Mode {

		/** One holder at a time. */
		EXCLUSIVE,

		/** Any number of shared holders, and no exclusive one, at a time. */
		SHARED,

		/**
		 * Nothing is taken; a commit is refused if another one under the same key came
		 * first, and the body runs again until the wait time is over.
		 */
		OPTIMISTIC

	}

}
