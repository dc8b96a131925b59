package io.github.holdfast.store;

import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

/**
 * Keeps a lease with its holder while it is renewed, so that a renewal for one holder
 * never runs into the turn of the next one, and an answer that comes late does not
 * replace the time of a later request.
 */
final class RenewalGate {

	private final ReentrantLock lock = new ReentrantLock();

	/** A renewal that has no answer, or a bad one. */
	private volatile boolean doubtful;

	/**
	 * Run a renewal for the one who has the lease.
	 * @param over whether its turn is over, so that there is nothing to renew
	 * @param renewal asks the store
	 * @return whether the lease was renewed
	 */
	boolean renew(BooleanSupplier over, BooleanSupplier renewal) {
		this.lock.lock();
		try {
			if (over.getAsBoolean()) {
				return false;
			}
			this.doubtful = true;
			boolean renewed = renewal.getAsBoolean();
			this.doubtful = !renewed;
			return renewed;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Shut out renewals while the holder changes.
	 * @return the change, or {@code null} if a renewal is under way or has left it open
	 * whether the lease is held
	 */
	@Nullable Change beginChange() {
		if (!this.lock.tryLock()) {
			return null;
		}
		if (this.doubtful) {
			this.lock.unlock();
			return null;
		}
		return new Change();
	}

	/**
	 * The change of a holder, by one thread. It ends when it is closed at the latest.
	 */
	final class Change implements AutoCloseable {

		private boolean ended;

		private Change() {
		}

		/**
		 * End it before the next holder has the lease, which may hand it over in its turn
		 * before this thread goes on.
		 */
		void end() {
			if (!this.ended) {
				this.ended = true;
				RenewalGate.this.lock.unlock();
			}
		}

		@Override
		public void close() {
			end();
		}

	}

}
