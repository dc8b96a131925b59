package io.github.holdfast.store.etcd;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KV;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.Lease;
import io.etcd.jetcd.Txn;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.lease.LeaseGrantResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.PutOption;

import io.github.holdfast.LockMode;
import io.github.holdfast.store.LockKeys;
import io.github.holdfast.store.Polling.Deadline;

/**
 * The requests about the queue of one lock. Its entries are named as
 * {@code concurrency.Mutex} of the Go client names them, {@code <lock>/<lease>}, so that
 * Go clients and {@code etcdctl lock} exclude this one. Entries of shared locks are
 * {@code <lock>/shared-<lease>}.
 *
 * @param entries the keys of etcd
 * @param leases the leases of etcd
 * @param watches the watches of etcd
 * @param prefix the beginning of all entries, which no other lock has
 */
record EtcdQueue(KV entries, Lease leases, Watch watches, String prefix) {

	private static final int MAX_KEY_BYTES = 512;

	private static final String SHARED = "shared-";

	static EtcdQueue of(Client client, String key) {
		String name = LockKeys.id(key, MAX_KEY_BYTES).replace("/", "%2f");
		return new EtcdQueue(client.getKVClient(), client.getLeaseClient(), client.getWatchClient(), name + "/");
	}

	static ByteSequence bytes(String text) {
		return ByteSequence.from(text, StandardCharsets.UTF_8);
	}

	ByteSequence entry(LockMode mode, long lease) {
		return bytes(this.prefix + ((mode == LockMode.SHARED) ? SHARED : "") + Long.toHexString(lease));
	}

	boolean isShared(KeyValue entry) {
		return entry.getKey().startsWith(bytes(this.prefix + SHARED));
	}

	/**
	 * Finds the last entry that keeps the lock from another one. A shared lock waits for
	 * exclusive ones only, whose names come first because leases are hexadecimal.
	 * @param maxRevision the last revision at which it was created, or 0 for any
	 */
	Op ahead(LockMode mode, long maxRevision) {
		GetOption.Builder rivals = (mode == LockMode.SHARED)
				? GetOption.builder().withRange(bytes(this.prefix + SHARED)) : GetOption.builder().isPrefix(true);
		return Op.get(bytes(this.prefix),
				rivals.withSortField(GetOption.SortTarget.CREATE)
					.withSortOrder(GetOption.SortOrder.DESCEND)
					.withMaxCreateRevision(maxRevision)
					.withLimit(1)
					.withKeysOnly(true)
					.build());
	}

	/**
	 * Returns all entries in their order.
	 */
	CompletableFuture<List<KeyValue>> all() {
		GetOption all = GetOption.builder().isPrefix(true).withSortField(GetOption.SortTarget.CREATE).build();
		return this.entries.get(bytes(this.prefix), all).thenApply(GetResponse::getKvs);
	}

	static Op put(ByteSequence entry, String holder, long lease) {
		return Op.put(entry, bytes(holder), PutOption.builder().withLeaseId(lease).build());
	}

	Txn ifCreatedAt(long revision, ByteSequence entry) {
		return this.entries.txn().If(new Cmp(entry, Cmp.Op.EQUAL, CmpTarget.createRevision(revision)));
	}

	/**
	 * Deletes an entry if it exists.
	 */
	CompletableFuture<Boolean> delete(ByteSequence entry, long createRevision) {
		Op delete = Op.delete(entry, DeleteOption.DEFAULT);
		return ifCreatedAt(createRevision, entry).Then(delete).commit().thenApply(TxnResponse::isSucceeded);
	}

	/**
	 * Grants a lease, in whole seconds.
	 */
	CompletableFuture<Long> grant(Duration leaseTime) {
		long seconds = leaseTime.plusSeconds(1).minusNanos(1).toSeconds();
		return this.leases.grant(seconds).thenApply(LeaseGrantResponse::getID);
	}

	/**
	 * Revokes a lease with its entry, even if the entry is still to come. Tries again if
	 * etcd fails.
	 * @param end until when
	 */
	CompletableFuture<Boolean> revoke(long lease, Deadline end) {
		return this.leases.revoke(lease).handle((revoked, failure) -> {
			if (failure != null && !EtcdAnswers.isLeaseGone(failure) && !end.hasPassed()) {
				CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS).execute(() -> revoke(lease, end));
			}
			return failure == null;
		});
	}

}
