package io.github.holdfast.store.etcd;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.Txn;
import io.etcd.jetcd.lease.LeaseGrantResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.PutOption;

import io.github.holdfast.LockMode;
import io.github.holdfast.LockRequest;
import io.github.holdfast.store.Deadline;
import io.github.holdfast.store.LockKeys;

/**
 * The requests about the queue of one lock. Its entries are named as
 * {@code concurrency.Mutex} of the Go client names them, {@code <lock>/<lease>}, so that
 * Go clients and {@code etcdctl lock} exclude, too. Entries of shared locks are
 * {@code <lock>/shared-<lease>}.
 *
 * @param client the client
 * @param prefix what all entries begin with, and those of no other lock
 */
record EtcdQueue(Client client, String prefix) {

	private static final int MAX_KEY_BYTES = 512;

	private static final String SHARED = "shared-";

	static EtcdQueue of(Client client, String key) {
		return new EtcdQueue(client, LockKeys.id(key, MAX_KEY_BYTES).replace("/", "%2f") + "/");
	}

	static ByteSequence bytes(String text) {
		return ByteSequence.from(text, StandardCharsets.UTF_8);
	}

	/**
	 * The time of a lease in whole seconds, etcd's unit.
	 */
	static long seconds(Duration leaseTime) {
		return leaseTime.plusSeconds(1).minusNanos(1).toSeconds();
	}

	ByteSequence entry(LockMode mode, long lease) {
		return bytes(this.prefix + ((mode == LockMode.SHARED) ? SHARED : "") + Long.toHexString(lease));
	}

	boolean isShared(KeyValue entry) {
		return entry.getKey().startsWith(bytes(this.prefix + SHARED));
	}

	/**
	 * Finds the last entry that keeps the lock from another one. A shared lock waits for
	 * exclusive ones only, whose names come first, because leases are hexadecimal.
	 * @param createRevision the revision of the other entry, or 0 if it is not there yet
	 */
	Op ahead(LockMode mode, long createRevision) {
		return Op.get(bytes(this.prefix),
				rivals(mode).withSortField(GetOption.SortTarget.CREATE)
					.withSortOrder(GetOption.SortOrder.DESCEND)
					.withMaxCreateRevision(Math.max(0, createRevision - 1))
					.withLimit(1)
					.withKeysOnly(true)
					.build());
	}

	private GetOption.Builder rivals(LockMode mode) {
		return (mode == LockMode.SHARED) ? GetOption.builder().withRange(bytes(this.prefix + SHARED))
				: GetOption.builder().isPrefix(true);
	}

	/**
	 * Whether the lock would have to be waited for.
	 */
	CompletableFuture<Boolean> isBusy(LockMode mode) {
		return this.client.getKVClient()
			.get(bytes(this.prefix), rivals(mode).withCountOnly(true).build())
			.thenApply((found) -> found.getCount() > 0);
	}

	/**
	 * Returns all entries in their order.
	 */
	CompletableFuture<List<KeyValue>> entries() {
		GetOption all = GetOption.builder().isPrefix(true).withSortField(GetOption.SortTarget.CREATE).build();
		return this.client.getKVClient().get(bytes(this.prefix), all).thenApply((found) -> found.getKvs());
	}

	static Op put(ByteSequence entry, ByteSequence holder, long lease) {
		return Op.put(entry, holder, PutOption.builder().withLeaseId(lease).build());
	}

	Txn ifCreatedAt(long createRevision, ByteSequence entry) {
		return this.client.getKVClient()
			.txn()
			.If(new Cmp(entry, Cmp.Op.EQUAL, CmpTarget.createRevision(createRevision)));
	}

	/**
	 * Deletes an entry, unless it is gone.
	 */
	CompletableFuture<Boolean> delete(ByteSequence entry, long createRevision) {
		return ifCreatedAt(createRevision, entry).Then(Op.delete(entry, DeleteOption.DEFAULT))
			.commit()
			.thenApply((answer) -> answer.isSucceeded());
	}

	CompletableFuture<Long> grant(long seconds) {
		return this.client.getLeaseClient().grant(seconds).thenApply(LeaseGrantResponse::getID);
	}

	CompletableFuture<?> keepAlive(long lease) {
		return this.client.getLeaseClient().keepAliveOnce(lease);
	}

	/**
	 * Revokes a lease with its entry, which may arrive later than this, again and again
	 * if etcd fails.
	 * @param end when the lease has run out
	 */
	CompletableFuture<Boolean> revoke(long lease, Deadline end) {
		return this.client.getLeaseClient()
			.revoke(lease)
			.thenApply((revoked) -> true)
			.whenComplete((revoked, failure) -> {
				if (failure != null && !EtcdAnswers.isLeaseGone(failure) && !end.hasPassed()) {
					CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS).execute(() -> revoke(lease, end));
				}
			});
	}

}
