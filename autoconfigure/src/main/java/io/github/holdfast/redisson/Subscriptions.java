package io.github.holdfast.redisson;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.holdfast.support.Deadline;

/**
 * Whether those who listen for releases are told of them, as far as the subscriptions of
 * this JVM show.
 */
final class Subscriptions {

	private static final Logger logger = LoggerFactory.getLogger(RedissonLockBackend.class);

	private static final AtomicBoolean warned = new AtomicBoolean();

	/** How long a failure counts, as some may work while there are too many of them. */
	private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(10);

	private volatile boolean succeeded;

	private volatile @Nullable Deadline failure;

	private Deadline nextTrial = Deadline.PASSED;

	/**
	 * Note how a subscription has ended.
	 * @param failure why it has failed, or {@code null}
	 */
	void ended(@Nullable Throwable failure) {
		this.succeeded = failure == null;
		if (failure != null) {
			this.failure = Deadline.after(PAUSE_AFTER_FAILURE);
			if (warned.compareAndSet(false, true)) {
				logger.warn("Redis does not tell when locks are released, so those who wait for one only poll",
						failure);
			}
		}
	}

	/**
	 * Whether the last one has worked, and none has failed a short time ago.
	 */
	boolean work() {
		return this.succeeded && !haveFailed();
	}

	boolean haveFailed() {
		Deadline failure = this.failure;
		return failure != null && !failure.hasPassed();
	}

	/**
	 * Whether to try one out, as it is not known whether they work. That is said to one
	 * who asks, and not again for some time.
	 */
	synchronized boolean isTrialDue() {
		if (work() || haveFailed() || !this.nextTrial.hasPassed()) {
			return false;
		}
		this.nextTrial = Deadline.after(PAUSE_AFTER_FAILURE);
		return true;
	}

}
