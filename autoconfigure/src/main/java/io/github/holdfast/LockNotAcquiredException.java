package io.github.holdfast;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.CannotAcquireLockException;

/**
 * Thrown when a lock was not acquired. The body has not run, or the attempts of an
 * optimistic lock were rolled back. It is safe to try again.
 */
public class LockNotAcquiredException extends CannotAcquireLockException implements LockException {

	private static final long serialVersionUID = 1L;

	private final String key;

	private final Reason reason;

	private final Duration waitTime;

	private final @Nullable String holder;

	private final int attempts;

	/**
	 * Create a new exception.
	 * @param key the key as the caller gave it
	 * @param reason why it was not acquired
	 * @param waitTime how long the caller was ready to wait
	 * @param holder who holds the lock, if known
	 * @param cause the cause, if any
	 */
	public LockNotAcquiredException(String key, Reason reason, Duration waitTime, @Nullable String holder,
			@Nullable Throwable cause) {
		this(key, reason, waitTime, holder, 0, cause);
	}

	/**
	 * Create a new exception for an optimistic lock.
	 * @param key the key as the caller gave it
	 * @param reason why the body was not run once more
	 * @param waitTime how long the caller was ready to wait
	 * @param attempts how often the body has run and was rolled back
	 * @param cause the cause, if any
	 */
	public LockNotAcquiredException(String key, Reason reason, Duration waitTime, int attempts,
			@Nullable Throwable cause) {
		this(key, reason, waitTime, null, attempts, cause);
	}

	private LockNotAcquiredException(String key, Reason reason, Duration waitTime, @Nullable String holder,
			int attempts, @Nullable Throwable cause) {
		super("Lock " + LockException.quote(key) + " was not acquired " + reason.text(waitTime)
				+ ((attempts > 0) ? "; attempts rolled back because another commit came first: " + attempts : "")
				+ ((holder != null) ? ": " + LockException.escape(holder) : ""), cause);
		this.key = key;
		this.reason = reason;
		this.waitTime = waitTime;
		this.holder = holder;
		this.attempts = attempts;
	}

	@Override
	public String key() {
		return this.key;
	}

	/**
	 * Why the lock was not acquired.
	 * @return the reason
	 */
	public Reason reason() {
		return this.reason;
	}

	/**
	 * How long the caller was ready to wait for all keys together.
	 * @return the wait time
	 */
	public Duration waitTime() {
		return this.waitTime;
	}

	/**
	 * A description of the holder for people.
	 * @return the holder, or {@code null} if the store does not report one
	 */
	public @Nullable String holder() {
		return this.holder;
	}

	/**
	 * How often the body of an optimistic lock has run and was rolled back.
	 * @return the number, zero if the body has not run
	 */
	public int attempts() {
		return this.attempts;
	}

	/**
	 * Why a lock was not acquired.
	 */
	public enum Reason {

		/** Another holder kept the lock for the whole wait time. */
		BUSY,

		/**
		 * Optimistic mode: in each attempt of the wait time another commit under the same
		 * key came first.
		 */
		CONFLICT,

		/** The waiting thread was interrupted; its interrupt flag is set. */
		INTERRUPTED,

		/** The application is shutting down. */
		SHUTDOWN,

		/** Too many threads wait for the lock already. */
		QUEUE_FULL;

		String text(Duration waitTime) {
			return switch (this) {
				case BUSY, CONFLICT -> "within " + TimeUnit.MILLISECONDS.convert(waitTime) + " ms";
				case INTERRUPTED -> "because the waiting thread was interrupted";
				case SHUTDOWN -> "because the application is shutting down";
				case QUEUE_FULL -> "because too many threads already wait for it";
			};
		}

	}

}
