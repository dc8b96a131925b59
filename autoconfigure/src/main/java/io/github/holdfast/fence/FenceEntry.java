package io.github.holdfast.fence;

import io.github.holdfast.LockLease;

/**
 * Which holder's transactions a fence row lets commit.
 *
 * @param epoch the holder's epoch
 * @param owner the holder
 */
record FenceEntry(long epoch, String owner) {

	static FenceEntry of(LockLease lease) {
		return new FenceEntry(lease.epoch(), lease.owner());
	}

	/**
	 * What a row says from which this holder was removed.
	 */
	FenceEntry taken() {
		return new FenceEntry(this.epoch, "");
	}

	boolean isTakenFrom(FenceEntry holder) {
		return equals(holder.taken());
	}

	boolean isOf(LockLease lease) {
		return this.epoch == lease.epoch() && this.owner.equals(lease.owner());
	}

}
