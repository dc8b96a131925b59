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
import io.github.holdfast.store.Deadline;

/**
 * The entry of one request in the queue of its lock.
 *
 * <ol>
 * <li>Put it with its own lease, and find in the same transaction the last entry that was
 * put before: if there is none, the lock is held.
 * <li>Otherwise watch that entry until it is deleted, and look again.
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
	 * Waits for the lock. A single attempt puts nothing while the lock is busy.
	 * @return the lease, or {@code null} if another holder kept the lock
	 * @throws ExecutionException if etcd failed, or the entry is gone
	 */
	@Nullable Lease await() throws InterruptedException, ExecutionException, TimeoutException {
		if (this.request.waitTime().isZero() && EtcdAnswers.await(this.queue.isBusy(this.request.mode()))) {
			return null;
		}
		this.sentAt = System.nanoTime();
		CompletableFuture<Long> granted = this.queue.grant(EtcdQueue.seconds(this.request.leaseTime()));
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
		Deadline end = Deadline.after(this.request.leaseTime());
		granted.thenCompose((lease) -> this.queue.revoke(lease, end))
			.completeOnTimeout(false, EtcdAnswers.TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)
			.exceptionally((failure) -> false)
			.join();
	}

	private @Nullable Lease await(long lease) throws InterruptedException, ExecutionException, TimeoutException {
		ByteSequence entry = this.queue.entry(this.request.mode(), lease);
		TxnResponse put = EtcdAnswers.await(this.queue.client()
			.getKVClient()
			.txn()
			.Then(this.queue.ahead(this.request.mode(), 0),
					EtcdQueue.put(entry, EtcdQueue.bytes(this.request.holder()), lease))
			.commit());
		long createRevision = put.getHeader().getRevision();
		Look look = (ahead) -> look(entry, createRevision, lease, ahead);
		KeyValue ahead = ahead(put);
		while (ahead != null && !this.deadline.hasPassed()) {
			ahead = awaitDeletion(ahead, look);
		}
		return (ahead != null) ? null
				: new EtcdLockLease(this.queue, this.request, entry, createRevision, lease, this.sentAt);
	}

	private @Nullable KeyValue ahead(TxnResponse seen) {
		this.revision = seen.getHeader().getRevision();
		return seen.getGetResponses().get(0).getKvs().stream().findFirst().orElse(null);
	}

	/**
	 * Waits until an entry is gone or the wait time is over. A watch may miss that, so it
	 * only hastens the next look.
	 * @return the entry to wait for next
	 */
	@SuppressWarnings("try")
	private @Nullable KeyValue awaitDeletion(KeyValue ahead, Look look)
			throws InterruptedException, ExecutionException, TimeoutException {
		Semaphore changes = new Semaphore(0);
		long longest = Math.min(LONGEST_WATCH.toNanos(), this.request.leaseTime().toNanos() / 3);
		WatchOption deletion = WatchOption.builder().withRevision(this.revision + 1).withNoPut(true).build();
		KeyValue last = ahead;
		try (Watch.Watcher watcher = this.queue.client()
			.getWatchClient()
			.watch(ahead.getKey(), deletion, (event) -> changes.release(), (failure) -> changes.release())) {
			while (last != null && last.getKey().equals(ahead.getKey()) && !this.deadline.hasPassed()) {
				changes.tryAcquire(Math.min(longest, this.deadline.remainingNanos()), TimeUnit.NANOSECONDS);
				changes.drainPermits();
				last = look.after(last);
			}
		}
		return last;
	}

	/**
	 * Finds the entry to wait for, and prolongs the lease, which must have been alive
	 * when its own entry was seen.
	 */
	private @Nullable KeyValue look(ByteSequence entry, long createRevision, long lease, KeyValue before)
			throws InterruptedException, ExecutionException, TimeoutException {
		long sentAt = System.nanoTime();
		try {
			CompletableFuture<TxnResponse> seen = this.queue.ifCreatedAt(createRevision, entry)
				.Then(this.queue.ahead(this.request.mode(), createRevision))
				.commit();
			TxnResponse answer = EtcdAnswers.await(this.queue.keepAlive(lease).thenCombine(seen, (alive, it) -> it));
			if (!answer.isSucceeded()) {
				throw new ExecutionException(Status.NOT_FOUND.asRuntimeException());
			}
			this.sentAt = sentAt;
			return ahead(answer);
		}
		catch (ExecutionException | TimeoutException ex) {
			if (this.deadline.hasPassed() || !EtcdAnswers.isTransient(ex)) {
				throw ex;
			}
			return before;
		}
	}

	/**
	 * Finds the entry to wait for.
	 */
	@FunctionalInterface
	private interface Look {

		@Nullable KeyValue after(KeyValue before) throws InterruptedException, ExecutionException, TimeoutException;

	}

}
