package io.github.holdfast.fence;

import io.github.holdfast.LockLease;

/**
 * Which holder's transactions a fence row lets commit.
 *
 * @param epoch the holder's epoch
 * @param owner the holder
 */
record FenceEntry(long epoch, String owner) {

	boolean isOf(LockLease lease) {
		return this.epoch == lease.epoch() && this.owner.equals(lease.owner());
	}

}
