package io.github.holdfast.store;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * Keeps a lease with its holder while it is renewed, so that a renewal for one holder
 * never runs into the turn of the next one, and an answer that comes late does not
 * replace the time of a later request.
 */
final class RenewalGate {

	private final ReentrantLock lock = new ReentrantLock();

	/** Renewals without an answer yet. */
	private int underWay;

	/** Whether the last one has failed, or got a bad answer. */
	private boolean doubtful;

	/**
	 * Run a renewal for the one who has the lease.
	 * @param over whether its turn is over, so that there is nothing to renew
	 * @param renewal asks the store
	 * @return completes with whether the lease was renewed
	 */
	CompletionStage<Boolean> renew(BooleanSupplier over, Supplier<CompletionStage<Boolean>> renewal) {
		this.lock.lock();
		try {
			if (over.getAsBoolean()) {
				return CompletableFuture.completedStage(false);
			}
			this.underWay++;
		}
		finally {
			this.lock.unlock();
		}
		return Releases.attempt(renewal).whenComplete((renewed, failure) -> {
			this.lock.lock();
			this.underWay--;
			this.doubtful = !Boolean.TRUE.equals(renewed);
			this.lock.unlock();
		});
	}

	/**
	 * Shut out renewals while the holder changes, which must not block.
	 * @return the change, or {@code null} if a renewal is under way or has left it open
	 * whether the lease is held
	 */
	@Nullable Change beginChange() {
		if (!this.lock.tryLock()) {
			return null;
		}
		if (this.underWay > 0 || this.doubtful) {
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
