package io.github.holdfast.chaos;

import org.jspecify.annotations.Nullable;

/**
 * What a transaction of a call did to an account. Times are those of
 * {@link System#nanoTime()}.
 *
 * @param sale tells it from all others, or {@code null} if it has only read
 * @param account the account
 * @param token the fencing token of the lock, or {@code null} without one
 * @param version the version that was read
 * @param fate what the node was told of the transaction
 * @param readAt the time before the read
 * @param doneAt the time before the COMMIT, or 0
 * @param endedAt the time when the node knew the fate
 */
record Touch(@Nullable String sale, String account, @Nullable Long token, long version, Fate fate, long readAt,
		long doneAt, long endedAt) {

	Touch ended(Fate known) {
		return new Touch(this.sale, this.account, this.token, this.version, known, this.readAt, this.doneAt,
				System.nanoTime());
	}

	Touch done() {
		return new Touch(this.sale, this.account, this.token, this.version, this.fate, this.readAt, System.nanoTime(),
				0);
	}

	enum Fate {

		COMMITTED, ROLLED_BACK, UNKNOWN

	}

}
