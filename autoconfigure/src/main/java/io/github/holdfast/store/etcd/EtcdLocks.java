package io.github.holdfast.store.etcd;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
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
import io.etcd.jetcd.options.WatchOption;

import io.github.holdfast.LockHolder;
import io.github.holdfast.LockRequest;
import io.github.holdfast.store.AnswerTimeout;
import io.github.holdfast.store.Deadline;
import io.github.holdfast.store.Releases;

/**
 * What etcd is asked about locks.
 */
final class EtcdLocks implements AutoCloseable {

	private static final Duration RELEASE_TIMEOUT = Duration.ofSeconds(5);

	private static final GetOption FIRST = GetOption.builder()
		.isPrefix(true)
		.withSortField(GetOption.SortTarget.CREATE)
		.withSortOrder(GetOption.SortOrder.ASCEND)
		.withLimit(1)
		.build();

	private static final GetOption COUNT = GetOption.builder().isPrefix(true).withCountOnly(true).build();

	private final Supplier<Client> client;

	private final String namespace;

	private final ByteSequence epochOffset;

	private final AnswerTimeout timeout = new AnswerTimeout(RELEASE_TIMEOUT);

	private final Releases releases = new Releases();

	EtcdLocks(Supplier<Client> client, String namespace) {
		this.client = client;
		this.namespace = namespace;
		this.epochOffset = Entry.bytes(namespace + "epoch-offset");
	}

	Entry entry(LockRequest request) {
		return Entry.of(this.namespace, request);
	}

	/**
	 * Whether somebody holds the lock or waits for it.
	 */
	CompletableFuture<Boolean> isBusy(Entry entry) {
		return this.client.get().getKVClient().get(entry.queue(), COUNT).thenApply((answer) -> answer.getCount() > 0);
	}

	/**
	 * A new lease.
	 */
	CompletableFuture<Long> grant(Duration leaseTime) {
		return this.client.get().getLeaseClient().grant(seconds(leaseTime)).thenApply(LeaseGrantResponse::getID);
	}

	/**
	 * Fails if the lease is gone.
	 */
	CompletableFuture<?> keepAlive(long lease) {
		return this.client.get().getLeaseClient().keepAliveOnce(lease);
	}

	CompletableFuture<?> revoke(long lease) {
		return this.client.get().getLeaseClient().revoke(lease);
	}

	/**
	 * Revoke a lease whose entry nobody wants, which may be put later than that, again
	 * and again if etcd fails.
	 * @param key the stored id of the lock
	 * @param end when the lease has run out at the latest
	 */
	CompletableFuture<?> abandon(String key, long lease, Deadline end) {
		return this.releases.run(key, end, () -> this.timeout.limit(revoke(lease).handle((revoked, ex) -> {
			if (ex != null && !EtcdAnswers.isLeaseGone(ex)) {
				throw new CompletionException(ex);
			}
			return true;
		})));
	}

	/**
	 * Stand in the queue, where the entry has not been put yet, and look who is ahead.
	 * @param createRevision when the entry was put, or 0 if that is not known
	 */
	CompletableFuture<Standing> stand(Entry entry, long lease, long createRevision) {
		Op own = Op.get(entry.key(), GetOption.DEFAULT);
		Op offset = Op.get(this.epochOffset, GetOption.DEFAULT);
		return txn().If(created(entry.key(), 0))
			.Then(ahead(entry, 0), own, offset, put(entry, lease))
			.Else(ahead(entry, createRevision), own, offset)
			.commit()
			.thenApply((answer) -> Standing.of(answer, createRevision));
	}

	private static Op ahead(Entry entry, long createRevision) {
		return Op.get(entry.queue(),
				GetOption.builder()
					.isPrefix(true)
					.withSortField(GetOption.SortTarget.CREATE)
					.withSortOrder(GetOption.SortOrder.DESCEND)
					.withMaxCreateRevision((createRevision > 0) ? createRevision - 1 : 0)
					.withLimit(1)
					.withKeysOnly(true)
					.build());
	}

	private static Op put(Entry entry, long lease) {
		return Op.put(entry.key(), entry.holder(), PutOption.builder().withLeaseId(lease).build());
	}

	/**
	 * Raise what is added to revisions, unless somebody else has changed it meanwhile.
	 */
	CompletableFuture<?> raiseEpoch(Standing standing, long minEpoch) {
		ByteSequence offset = Entry.bytes(Long.toString(minEpoch - standing.createRevision()));
		return txn().If(new Cmp(this.epochOffset, Cmp.Op.EQUAL, CmpTarget.modRevision(standing.offsetModRevision())))
			.Then(Op.put(this.epochOffset, offset, PutOption.DEFAULT))
			.commit();
	}

	/**
	 * Prolong a lease by its own time, and see what is there of the entry then.
	 */
	CompletableFuture<List<KeyValue>> renew(Entry entry, long lease) {
		return keepAlive(lease).thenCompose((alive) -> this.client.get().getKVClient().get(entry.key()))
			.thenApply(GetResponse::getKvs);
	}

	/**
	 * Give an entry another lease, or see what is there of it if it has been changed. A
	 * request that is carried out late finds it changed.
	 * @param modRevision when the entry was last changed
	 */
	CompletableFuture<TxnResponse> changeLease(Entry entry, long modRevision, long lease) {
		return txn().If(new Cmp(entry.key(), Cmp.Op.EQUAL, CmpTarget.modRevision(modRevision)))
			.Then(put(entry, lease))
			.Else(Op.get(entry.key(), GetOption.DEFAULT))
			.commit();
	}

	/**
	 * Free a lock that is held, again and again if etcd fails. The lease is revoked
	 * afterwards, also if there was no answer.
	 * @param key the stored id of the lock
	 * @param end when the lock has run out at the latest
	 */
	CompletableFuture<Boolean> release(String key, Entry entry, long createRevision, long lease, Deadline end) {
		return this.releases.run(key, end, () -> release(entry, createRevision, lease));
	}

	private CompletableFuture<Boolean> release(Entry entry, long createRevision, long lease) {
		CompletableFuture<TxnResponse> deleted = txn().If(created(entry.key(), createRevision))
			.Then(Op.delete(entry.key(), DeleteOption.DEFAULT))
			.commit();
		return this.timeout.limit(deleted)
			.whenComplete((answer, ex) -> revoke(lease))
			.thenApply(TxnResponse::isSucceeded);
	}

	/**
	 * Who is the first in the queue of a lock.
	 */
	CompletableFuture<Optional<First>> first(String key) {
		return txn().Then(Op.get(Entry.lock(this.namespace, key), FIRST), Op.get(this.epochOffset, GetOption.DEFAULT))
			.commit()
			.thenApply((answer) -> {
				List<KeyValue> offset = answer.getGetResponses().get(1).getKvs();
				long added = offset.isEmpty() ? 0
						: Long.parseLong(offset.get(0).getValue().toString(StandardCharsets.UTF_8));
				return answer.getGetResponses()
					.get(0)
					.getKvs()
					.stream()
					.findFirst()
					.map((first) -> first(first, added));
			});
	}

	private static First first(KeyValue first, long epochOffset) {
		String path = first.getKey().toString(StandardCharsets.UTF_8);
		LockHolder holder = new LockHolder(path.substring(path.lastIndexOf('/') + 1),
				"held by " + first.getValue().toString(StandardCharsets.UTF_8), null, null,
				first.getCreateRevision() + epochOffset);
		return new First(first.getKey(), first.getCreateRevision(), holder);
	}

	/**
	 * Delete an entry, unless it has been put anew.
	 */
	CompletableFuture<Boolean> delete(First first) {
		return txn().If(created(first.key(), first.createRevision()))
			.Then(Op.delete(first.key(), DeleteOption.DEFAULT))
			.commit()
			.thenApply(TxnResponse::isSucceeded);
	}

	/**
	 * Read through a majority of the members, and tell which cluster that is.
	 */
	CompletableFuture<String> describe() {
		return this.client.get()
			.getKVClient()
			.get(this.epochOffset)
			.thenApply((answer) -> "etcd cluster " + Long.toHexString(answer.getHeader().getClusterId()));
	}

	Watch.Watcher watchDeletion(ByteSequence key, long revision, Watch.Listener listener) {
		return this.client.get()
			.getWatchClient()
			.watch(key, WatchOption.builder().withRevision(revision).withNoPut(true).withRequireLeader(true).build(),
					listener);
	}

	/**
	 * Stop what is still tried again because etcd has failed.
	 */
	@Override
	public void close() {
		this.releases.close();
	}

	private Txn txn() {
		return this.client.get().getKVClient().txn();
	}

	private static Cmp created(ByteSequence key, long revision) {
		return new Cmp(key, Cmp.Op.EQUAL, CmpTarget.createRevision(revision));
	}

	static long createRevision(List<KeyValue> found) {
		return found.isEmpty() ? 0 : found.get(0).getCreateRevision();
	}

	/**
	 * The time of a lease, in the only unit that etcd knows.
	 */
	static long seconds(Duration leaseTime) {
		return leaseTime.plusSeconds(1).minusNanos(1).toSeconds();
	}

	/**
	 * The first entry in the queue of a lock.
	 *
	 * @param key the key of the entry
	 * @param createRevision when it was put
	 * @param holder whose it is
	 */
	record First(ByteSequence key, long createRevision, LockHolder holder) {

	}

}
