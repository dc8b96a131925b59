package io.github.holdfast.fence;

import java.sql.SQLException;
import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.store.Deadline;
import io.github.holdfast.store.Polling;
import io.github.holdfast.store.Shortage;

/**
 * The attempts to install one lease in the fence table. Keeps the lease alive meanwhile.
 */
final class FenceInstallation {

	private static final Polling POLLING = new Polling(Duration.ofMillis(5), Duration.ofMillis(50));

	/** Instead of an entry, when the store says that the lease is no longer ours. */
	private static final FenceEntry LOST = new FenceEntry(0, "");

	private final FenceTable table;

	private final LockLease lease;

	private final Duration leaseTime;

	private Deadline renewal;

	FenceInstallation(FenceTable table, LockLease lease, Duration leaseTime) {
		this.table = table;
		this.lease = lease;
		this.leaseTime = leaseTime;
		Duration remaining = lease.remaining();
		Duration used = (remaining != null) ? leaseTime.minus(remaining) : Duration.ZERO;
		this.renewal = Deadline.after(leaseTime.dividedBy(3).minus(used));
	}

	/**
	 * Whether an installation has ended because the lease was over.
	 */
	static boolean isLost(FenceEntry entry) {
		return entry == LOST;
	}

	/**
	 * Try until the lease or another one is installed.
	 * @return the entry of the lease, or the one that has refused it, or {@code null} if
	 * the transaction of an earlier holder was open for the whole time
	 */
	@Nullable FenceEntry await(Deadline deadline) throws InterruptedException {
		return POLLING.until(deadline.remaining(), (end) -> {
			try {
				return attempt(end);
			}
			catch (LockBackendException ex) {
				if (Thread.interrupted()) {
					throw (InterruptedException) new InterruptedException().initCause(ex);
				}
				throw ex;
			}
		});
	}

	/**
	 * Try once.
	 * @param end when the caller has waited for long enough
	 * @return the entry of the lease, or the one that has refused it, or {@code null} if
	 * the transaction of an earlier holder is open
	 */
	@Nullable FenceEntry attempt(Deadline end) {
		if (!isHeld()) {
			return LOST;
		}
		FenceEntry entry = install(end.remaining());
		return (entry == null || !entry.isOf(this.lease) || isHeld()) ? entry : LOST;
	}

	private @Nullable FenceEntry install(Duration remaining) {
		Duration third = this.leaseTime.dividedBy(3);
		try {
			return this.table.install(this.lease, (third.compareTo(remaining) < 0) ? third : remaining);
		}
		catch (SQLException ex) {
			throw new LockBackendException(this.lease.key(),
					"could not be acquired, the fence table failed" + Shortage.remedy(ex), ex);
		}
	}

	private boolean isHeld() {
		if (this.lease.remaining() != null && this.renewal.hasPassed()) {
			this.renewal = Deadline.after(this.leaseTime.dividedBy(3));
			return this.lease.renew(this.leaseTime);
		}
		return this.lease.isValid();
	}

}
