package io.github.holdfast.chaos;

import org.jspecify.annotations.Nullable;

/**
 * What a transaction of a call did to an account: the sale, or {@code null} if it has
 * only read; the fencing token; the version that was read; and the times before the read,
 * before the COMMIT or 0, and when the node was told the fate.
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
