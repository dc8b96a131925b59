package io.github.holdfast.transaction;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;

import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;

/**
 * Grants every lock; something happens when a lease is checked inside a transaction, by
 * its time or by its owner.
 */
class FaultyBackend implements LockBackend {

	private final Runnable whenChecked;

	private final AtomicInteger checks = new AtomicInteger();

	FaultyBackend(Runnable whenChecked) {
		this.whenChecked = whenChecked;
	}

	int checks() {
		return this.checks.get();
	}

	@Override
	public LockLease acquire(LockRequest request) {
		return new LockLease() {

			@Override
			public String key() {
				return request.key();
			}

			@Override
			public String owner() {
				checked();
				return "owner";
			}

			@Override
			public long epoch() {
				return 1;
			}

			@Override
			public Duration remaining() {
				return Duration.ofHours(1);
			}

			@Override
			public boolean isValid() {
				checked();
				return true;
			}

			@Override
			public boolean renew(Duration leaseTime) {
				return true;
			}

			@Override
			public CompletionStage<Boolean> release() {
				return CompletableFuture.completedStage(true);
			}

		};
	}

	/**
	 * The acquisition looks at the lease, too, but only a check before the commit counts.
	 */
	private void checked() {
		if (TransactionSynchronizationManager.isActualTransactionActive()) {
			this.checks.incrementAndGet();
			this.whenChecked.run();
		}
	}

}
