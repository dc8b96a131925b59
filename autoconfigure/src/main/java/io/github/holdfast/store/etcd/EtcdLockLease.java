package io.github.holdfast.store.etcd;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockRequest;
import io.github.holdfast.store.Polling.Deadline;

/**
 * A lock in etcd: an entry that is the first in its queue.
 */
final class EtcdLockLease implements LockBackend.Lease {

	private final EtcdQueue queue;

	private final LockRequest request;

	private final ByteSequence entry;

	private final long createRevision;

	private final long sentAt;

	private volatile long lease;

	/** The time of the lease, or {@code null} if the entry may have another lease. */
	private volatile @Nullable Duration leaseTime;

	EtcdLockLease(EtcdQueue queue, LockRequest request, ByteSequence entry, long createRevision, long lease,
			long sentAt) {
		this.queue = queue;
		this.request = request;
		this.entry = entry;
		this.createRevision = createRevision;
		this.lease = lease;
		this.leaseTime = request.leaseTime();
		this.sentAt = sentAt;
	}

	@Override
	public long epoch() {
		return this.createRevision;
	}

	@Override
	public long sentAt() {
		return this.sentAt;
	}

	@Override
	public CompletionStage<Boolean> renew(Duration leaseTime) {
		return this.queue.entries().get(this.entry).thenCompose((found) -> {
			KeyValue own = found.getKvs().stream().findFirst().orElse(null);
			if (own == null || own.getCreateRevision() != this.createRevision) {
				return CompletableFuture.completedFuture(false);
			}
			return (own.getLease() == this.lease && leaseTime.equals(this.leaseTime))
					? this.queue.leases().keepAliveOnce(this.lease).thenApply((alive) -> true)
					: changeLease(own.getModRevision(), leaseTime);
		}).orTimeout(EtcdAnswers.TIMEOUT_SECONDS, TimeUnit.SECONDS).exceptionally((failure) -> {
			if (EtcdAnswers.isLeaseGone(failure)) {
				return false;
			}
			throw EtcdAnswers.failure(this.request.key(), "renewed", failure);
		});
	}

	/**
	 * Gives the entry another lease, because the time of a lease cannot be changed. A
	 * change that comes late finds the entry changed.
	 */
	private CompletableFuture<Boolean> changeLease(long modRevision, Duration leaseTime) {
		long before = this.lease;
		this.leaseTime = null;
		return this.queue.grant(leaseTime)
			.thenCompose((after) -> this.queue.entries()
				.txn()
				.If(new Cmp(this.entry, Cmp.Op.EQUAL, CmpTarget.modRevision(modRevision)))
				.Then(EtcdQueue.put(this.entry, this.request.owner().description(), after))
				.commit()
				.thenCompose((answer) -> {
					this.queue.revoke(answer.isSucceeded() ? before : after, Deadline.PASSED);
					if (!answer.isSucceeded()) {
						return renew(leaseTime);
					}
					this.lease = after;
					this.leaseTime = leaseTime;
					return CompletableFuture.completedFuture(true);
				}));
	}

	@Override
	public CompletionStage<Boolean> release() {
		return this.queue.delete(this.entry, this.createRevision)
			.orTimeout(EtcdAnswers.TIMEOUT_SECONDS, TimeUnit.SECONDS)
			.handle((deleted, failure) -> {
				this.queue.revoke(this.lease, Deadline.PASSED);
				if (failure != null) {
					throw EtcdAnswers.failure(this.request.key(), "released", failure);
				}
				return deleted;
			});
	}

}
