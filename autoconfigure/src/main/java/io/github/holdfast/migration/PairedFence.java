package io.github.holdfast.migration;

import java.util.Objects;
import java.util.function.Function;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockLease;
import io.github.holdfast.fence.Fence;

/**
 * Lets a transaction commit only if its lock is held in both places.
 */
final class PairedFence implements Fence {

	private final LockPlace own;

	private final Function<String, @Nullable PairedLease> leases;

	/**
	 * Create a fence.
	 * @param own the place whose database is meant
	 * @param leases finds a lease that has not been released by its owner
	 */
	PairedFence(LockPlace own, Function<String, @Nullable PairedLease> leases) {
		this.own = own;
		this.leases = leases;
	}

	private static Fence of(LockPlace place) {
		return Objects.requireNonNull(place.fence(), () -> "No fence for '" + place.name() + "'");
	}

	@Override
	public DataSource dataSource() {
		return of(this.own).dataSource();
	}

	@Override
	public boolean holds(DataSource managed, LockLease lease, boolean readOnly) {
		PairedLease pair = this.leases.apply(lease.owner());
		if (pair == null) {
			return false;
		}
		for (PairedLease.Part part : pair.parts()) {
			if (!of(part.place()).holds(managed, part.lease(), readOnly)) {
				return false;
			}
		}
		return true;
	}

	@Override
	public String lossDetail() {
		return of(this.own).lossDetail();
	}

}
