package io.github.holdfast.zookeeper;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

import org.springframework.util.function.SingletonSupplier;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.support.Deadline;

/**
 * Locks in ZooKeeper 3.6 or later, through a {@link CuratorFramework} that is never
 * closed here. A held lock is the first ephemeral node of a queue, so it is held as long
 * as the session lives: the lease time is not used. Waiters on all nodes are served in
 * the order of their arrival; each is woken when the one in front of it leaves.
 *
 * <p>
 * A lease is valid while the client is connected and its session is provably alive by the
 * clock of this process. It counts as lost with the session, even if another one follows.
 *
 * <p>
 * The epoch is the id of the transaction that created the node, which rises for ever in
 * one ensemble.
 *
 * <p>
 * Not for the threads on which ZooKeeper or Curator tell their events: a thread that
 * waits for a lock there waits for itself.
 *
 * @since 0.1.0
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
		Deadline deadline = Deadline.PASSED;
		try {
			LockSession session = this.sessions.connected(deadline);
			String lock = session.paths().lock(key);
			List<LockNode> queue = LockNode.of(ZooKeeperAnswers.await(session.children(lock), deadline));
			LockNode first = LockNode.first(queue, "");
			return (first != null) ? holder(first, text(session, lock + '/' + first.name(), deadline)) : null;
		}
		catch (KeeperException ex) {
			return null;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return null;
		}
	}

	private static LockHolder holder(LockNode node, String text) {
		return new LockHolder(node.owner(), "held by " + text, null, null, null);
	}

	private static String text(LockSession session, String path, Deadline deadline)
			throws KeeperException, InterruptedException {
		return new String(ZooKeeperAnswers.await(session.read(path, null), deadline).data(), StandardCharsets.UTF_8);
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

}
