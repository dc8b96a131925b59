package io.github.holdfast.store.etcd;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.options.WatchOption;
import io.grpc.Status;
import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackend.Lease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.store.Polling.Deadline;

/**
 * The entry of one request in the queue of its lock.
 *
 * <ol>
 * <li>Puts it with its own lease, and finds the previous entry in the same transaction.
 * If there is none, the lock is held.
 * <li>Otherwise watches that entry until it is deleted, and checks again.
 * </ol>
 */
final class EtcdAcquisition {

	private static final Duration LONGEST_WATCH = Duration.ofSeconds(2);

	private final EtcdQueue queue;

	private final LockRequest request;

	private final Deadline deadline;

	/** From before the last request that prolonged the lease. */
	private long sentAt = System.nanoTime();

	/** Of the last look. */
	private long revision;

	EtcdAcquisition(EtcdQueue queue, LockRequest request, Deadline deadline) {
		this.queue = queue;
		this.request = request;
		this.deadline = deadline;
	}

	/**
	 * Waits for the lock.
	 * @return the lease, or {@code null} if another holder kept the lock
	 * @throws ExecutionException if etcd failed, or the entry was removed
	 */
	@Nullable Lease await() throws InterruptedException, ExecutionException, TimeoutException {
		CompletableFuture<Long> granted = this.queue.grant(this.request.leaseTime());
		Lease lease = null;
		try {
			lease = await(EtcdAnswers.await(granted));
			return lease;
		}
		finally {
			if (lease == null) {
				leave(granted);
			}
		}
	}

	/**
	 * Removes the entry, even if the answers to its requests are still to come. Waits for
	 * it, because the entry could be in the way of the next attempt.
	 */
	private void leave(CompletableFuture<Long> granted) {
		granted.thenCompose((lease) -> this.queue.revoke(lease, Deadline.after(this.request.leaseTime())))
			.exceptionally((failure) -> false)
			.completeOnTimeout(false, EtcdAnswers.TIMEOUT_SECONDS, TimeUnit.SECONDS)
			.join();
	}

	private @Nullable Lease await(long lease) throws InterruptedException, ExecutionException, TimeoutException {
		ByteSequence own = this.queue.entry(this.request.mode(), lease);
		TxnResponse put = EtcdAnswers.await(this.queue.entries()
			.txn()
			.Then(this.queue.ahead(this.request.mode(), 0),
					EtcdQueue.put(own, this.request.owner().description(), lease))
			.commit());
		long createRevision = put.getHeader().getRevision();
		ByteSequence ahead = ahead(put);
		while (ahead != null && !this.deadline.hasPassed()) {
			awaitDeletion(ahead);
			ahead = look(ahead, own, createRevision, lease);
		}
		return (ahead != null) ? null
				: new EtcdLockLease(this.queue, this.request, own, createRevision, lease, this.sentAt);
	}

	private @Nullable ByteSequence ahead(TxnResponse seen) {
		this.revision = seen.getHeader().getRevision();
		return seen.getGetResponses().get(0).getKvs().stream().findFirst().map(KeyValue::getKey).orElse(null);
	}

	/**
	 * Waits until an entry is removed, or for some time. A watch can miss the removal,
	 * and the lease of this entry must be extended.
	 */
	@SuppressWarnings("try")
	private void awaitDeletion(ByteSequence key) throws InterruptedException {
		Semaphore deleted = new Semaphore(0);
		WatchOption option = WatchOption.builder().withRevision(this.revision + 1).withNoPut(true).build();
		long longest = Math.min(LONGEST_WATCH.toNanos(), this.request.leaseTime().toNanos() / 3);
		try (Watch.Watcher watcher = this.queue.watches().watch(key, option, (event) -> deleted.release())) {
			deleted.tryAcquire(Math.min(longest, this.deadline.remainingNanos()), TimeUnit.NANOSECONDS);
		}
	}

	/**
	 * Finds the entry to wait for, and prolongs the lease, which must have been alive
	 * when its own entry was seen.
	 */
	private @Nullable ByteSequence look(ByteSequence before, ByteSequence own, long createRevision, long lease)
			throws InterruptedException, ExecutionException, TimeoutException {
		long askedAt = System.nanoTime();
		try {
			CompletableFuture<TxnResponse> seen = this.queue.ifCreatedAt(createRevision, own)
				.Then(this.queue.ahead(this.request.mode(), createRevision - 1))
				.commit();
			TxnResponse answer = EtcdAnswers
				.await(this.queue.leases().keepAliveOnce(lease).thenCombine(seen, (alive, it) -> it));
			if (!answer.isSucceeded()) {
				throw new ExecutionException(Status.NOT_FOUND.asRuntimeException());
			}
			this.sentAt = askedAt;
			return ahead(answer);
		}
		catch (ExecutionException | TimeoutException ex) {
			if (this.deadline.hasPassed() || !EtcdAnswers.isTransient(ex)) {
				throw ex;
			}
			return before;
		}
	}

}
