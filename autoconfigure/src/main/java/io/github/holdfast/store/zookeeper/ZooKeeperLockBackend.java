package io.github.holdfast.store.zookeeper;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

import org.springframework.util.function.SingletonSupplier;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.store.Deadline;

/**
 * Locks in ZooKeeper 3.6 or later, through a {@link CuratorFramework} that is never
 * closed here. A held lock is the first ephemeral node of a queue, so it is held as long
 * as the session lives, whatever the lease time is. Waiters on all nodes are served in
 * the order of their arrival; each is woken when the one in front of it leaves.
 *
 * <p>
 * A lease is valid while the client is connected and its session is provably alive by the
 * clock of this process, and its node was seen less than the lease time ago: a renewal is
 * a look at it. It counts as lost with the session, even if another one follows.
 *
 * <p>
 * The epoch is the id of the transaction that created the node, which rises for ever in
 * one ensemble.
 *
 * <p>
 * Not for the threads on which ZooKeeper or Curator tell their events: a thread that
 * waits for a lock there waits for itself.
 *
 * @since 0.2.0
 */
public final class ZooKeeperLockBackend implements LockBackend {

	private static final Set<Capability> CAPABILITIES = Set.of(Capability.SHARED, Capability.FAIR,
			Capability.RELEASE_NOT_AWAITED);

	private final LockSessions sessions;

	/**
	 * Create a backend.
	 * @param client supplies the client, at the first use
	 */
	public ZooKeeperLockBackend(Supplier<CuratorFramework> client) {
		this.sessions = new LockSessions(SingletonSupplier.of(client));
	}

	@Override
	public @Nullable LockLease acquire(LockRequest request) throws InterruptedException {
		if (Thread.interrupted()) {
			throw new InterruptedException();
		}
		Deadline deadline = Deadline.after(request.waitTime());
		while (true) {
			try {
				return acquire(request, deadline);
			}
			catch (KeeperException.SessionExpiredException | KeeperException.ConnectionLossException
					| KeeperException.NoNodeException ex) {
				if (deadline.hasPassed()) {
					throw ZooKeeperAnswers.failure(request.key(), "acquired", ex);
				}
			}
			catch (KeeperException ex) {
				throw ZooKeeperAnswers.failure(request.key(), "acquired", ex);
			}
		}
	}

	private @Nullable LockLease acquire(LockRequest request, Deadline deadline)
			throws KeeperException, InterruptedException {
		LockSession session = this.sessions.connected(deadline);
		try {
			return new QueuePlace(session, request, deadline).await();
		}
		catch (KeeperException.NoNodeException ex) {
			// The parent of all locks is gone
			this.sessions.forget(session);
			throw ex;
		}
	}

	@Override
	public @Nullable LockHolder holder(String key) {
		try {
			Holding holding = find(this.sessions.connected(Deadline.PASSED), key);
			return (holding != null) ? holding.holder() : null;
		}
		catch (KeeperException ex) {
			throw ZooKeeperAnswers.failure(key, "looked up", ex);
		}
		catch (InterruptedException ex) {
			throw interrupted(key, "looked up", ex);
		}
	}

	private static @Nullable Holding find(LockSession session, String key)
			throws KeeperException, InterruptedException {
		String lock = session.paths().lock(key);
		List<LockNode> queue = LockNode
			.of(ZooKeeperAnswers.await(LockSession.absentAs(List.of(), session.children(lock)), Deadline.PASSED));
		LockNode first = LockNode.first(queue, "");
		if (first == null) {
			return null;
		}
		String path = lock + '/' + first.name();
		CompletableFuture<Requests.Content> read = session.read(path, null);
		EpochOffset offset = ZooKeeperAnswers.await(EpochOffset.read(session), Deadline.PASSED);
		try {
			Requests.Content node = ZooKeeperAnswers.await(read, Deadline.PASSED);
			return new Holding(path,
					new LockHolder(first.owner(), "held by " + new String(node.data(), StandardCharsets.UTF_8),
							Instant.ofEpochMilli(node.stat().getCtime()), null,
							node.stat().getCzxid() + offset.value()));
		}
		catch (KeeperException.NoNodeException ex) {
			return null;
		}
	}

	/**
	 * Whoever may delete nodes may do so with those of other sessions.
	 */
	@Override
	public Eviction evict(String key, String owner, long epoch) throws InterruptedException {
		try {
			LockSession session = this.sessions.connected(Deadline.PASSED);
			Holding holding = find(session, key);
			boolean evicted = holding != null && holding.holder().isOf(LockPaths.segment(owner), epoch)
					&& ZooKeeperAnswers.await(session.delete(holding.path()), Deadline.PASSED);
			return evicted ? Eviction.EVICTED : Eviction.NOT_HELD;
		}
		catch (KeeperException ex) {
			throw ZooKeeperAnswers.failure(key, "taken away", ex);
		}
	}

	/**
	 * A majority of the servers takes part in the answer.
	 */
	@Override
	public Status probe(String key) {
		try {
			LockSession session = this.sessions.connected(Deadline.PASSED);
			ZooKeeperAnswers.await(session.check(session.paths().locks()), Deadline.PASSED);
			return new Status("ZooKeeper at " + this.sessions.address(), null);
		}
		catch (KeeperException ex) {
			throw ZooKeeperAnswers.failure(key, "asked for", ex);
		}
		catch (InterruptedException ex) {
			throw interrupted(key, "asked for", ex);
		}
	}

	private static LockBackendException interrupted(String key, String what, InterruptedException ex) {
		Thread.currentThread().interrupt();
		return new LockBackendException(key, "could not be " + what + ", the thread was interrupted", ex);
	}

	@Override
	public Set<Capability> capabilities() {
		return CAPABILITIES;
	}

	@Override
	public String name() {
		return "zookeeper";
	}

	@Override
	public String toString() {
		return "backend 'zookeeper'";
	}

	/**
	 * The node of the first holder.
	 */
	private record Holding(String path, LockHolder holder) {

	}

}
