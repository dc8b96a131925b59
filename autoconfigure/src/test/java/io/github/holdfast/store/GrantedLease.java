package io.github.holdfast.store;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;

import io.github.holdfast.LockBackend;

/** A lease of a store that grants everything. */
public record GrantedLease(long epoch, long sentAt, BooleanSupplier held) implements LockBackend.Lease {

	@Override
	public CompletionStage<Boolean> renew(Duration leaseTime) {
		return release();
	}

	@Override
	public CompletionStage<Boolean> release() {
		return CompletableFuture.completedStage(this.held.getAsBoolean());
	}

}
