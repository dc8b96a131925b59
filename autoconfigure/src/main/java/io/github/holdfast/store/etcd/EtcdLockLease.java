package io.github.holdfast.store.etcd;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.GetOption;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockRequest;
import io.github.holdfast.store.Deadline;

/**
 * A lock in etcd: an entry that is the first in its queue.
 */
final class EtcdLockLease implements LockBackend.Lease {

	private static final long TIMEOUT_SECONDS = 5;

	private final EtcdQueue queue;

	private final LockRequest request;

	private final ByteSequence entry;

	private final long createRevision;

	private final long sentAt;

	private volatile long lease;

	/** The time of the lease, or 0 if the entry may have another one. */
	private volatile long seconds;

	private volatile long modRevision;

	EtcdLockLease(EtcdQueue queue, LockRequest request, ByteSequence entry, long createRevision, long lease,
			long sentAt) {
		this.queue = queue;
		this.request = request;
		this.entry = entry;
		this.createRevision = createRevision;
		this.modRevision = createRevision;
		this.lease = lease;
		this.seconds = EtcdQueue.seconds(request.leaseTime());
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
		long seconds = EtcdQueue.seconds(leaseTime);
		return ((seconds == this.seconds) ? keepAlive(seconds) : changeLease(seconds))
			.orTimeout(TIMEOUT_SECONDS, TimeUnit.SECONDS)
			.exceptionally((failure) -> {
				if (EtcdAnswers.isLeaseGone(failure)) {
					return false;
				}
				throw EtcdAnswers.failure(this.request.key(), "renewed", failure);
			});
	}

	private CompletableFuture<Boolean> keepAlive(long seconds) {
		long lease = this.lease;
		return this.queue.keepAlive(lease)
			.thenCompose((alive) -> this.queue.client().getKVClient().get(this.entry))
			.thenCompose((found) -> (isOurs(found.getKvs()) && found.getKvs().get(0).getLease() != lease)
					? changeLease(seconds) : CompletableFuture.completedFuture(isOurs(found.getKvs())));
	}

	/**
	 * The time of a lease cannot be changed, so the entry gets another one. Earlier
	 * requests without an answer may have come first.
	 */
	private CompletableFuture<Boolean> changeLease(long seconds) {
		this.seconds = 0;
		return this.queue.grant(seconds)
			.thenCompose((newLease) -> this.queue.client()
				.getKVClient()
				.txn()
				.If(new Cmp(this.entry, Cmp.Op.EQUAL, CmpTarget.modRevision(this.modRevision)))
				.Then(EtcdQueue.put(this.entry, EtcdQueue.bytes(this.request.holder()), newLease))
				.Else(Op.get(this.entry, GetOption.DEFAULT))
				.commit()
				.thenCompose((answer) -> {
					this.queue.revoke(answer.isSucceeded() ? this.lease : newLease, Deadline.PASSED);
					if (answer.isSucceeded()) {
						this.modRevision = answer.getHeader().getRevision();
						this.lease = newLease;
						this.seconds = seconds;
						return CompletableFuture.completedFuture(true);
					}
					List<KeyValue> found = answer.getGetResponses().get(0).getKvs();
					if (!isOurs(found)) {
						return CompletableFuture.completedFuture(false);
					}
					this.modRevision = found.get(0).getModRevision();
					return changeLease(seconds);
				}));
	}

	private boolean isOurs(List<KeyValue> found) {
		return !found.isEmpty() && found.get(0).getCreateRevision() == this.createRevision;
	}

	@Override
	public CompletionStage<Boolean> release() {
		return this.queue.delete(this.entry, this.createRevision)
			.orTimeout(TIMEOUT_SECONDS, TimeUnit.SECONDS)
			.handle((deleted, failure) -> {
				this.queue.revoke(this.lease, Deadline.PASSED);
				if (failure != null) {
					throw EtcdAnswers.failure(this.request.key(), "released", failure);
				}
				return deleted;
			});
	}

}
