package io.github.holdfast.store.zookeeper;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.CuratorEvent;
import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

import org.springframework.util.function.SingletonSupplier;

import io.github.holdfast.LockHolder;
import io.github.holdfast.LockRequest;
import io.github.holdfast.ManageableLockBackend;
import io.github.holdfast.store.Polling.Deadline;

/**
 * Locks in ZooKeeper 3.6 or later, through a {@link CuratorFramework} that is never
 * closed here. A held lock is the first ephemeral node of a queue. Waiters of all nodes
 * are served in the order of their arrival; each is woken when the node in front of it is
 * deleted.
 *
 * <p>
 * The lock is held as long as the session lives. The lease counts as lost if its session
 * ends, even if another session follows. It also counts as lost if nothing has proven for
 * two thirds of the session timeout that the session lives. The epoch is the id of the
 * transaction that created the node.
 *
 * <p>
 * Not for the threads that deliver the events of ZooKeeper or Curator: a lock that is
 * acquired there waits for its own thread.
 */
public final class ZooKeeperLockBackend implements ManageableLockBackend {

	private static final long PAUSE_MILLIS = 50;

	/** Failures after which another node may be granted the lock. */
	private static final Set<KeeperException.Code> RETRIED = Set.of(KeeperException.Code.CONNECTIONLOSS,
			KeeperException.Code.SESSIONEXPIRED, KeeperException.Code.NONODE);

	private final Supplier<CuratorFramework> curator;

	/**
	 * Create a backend.
	 * @param curator supplies the started client, at the first use
	 */
	public ZooKeeperLockBackend(Supplier<CuratorFramework> curator) {
		this.curator = SingletonSupplier.of(curator);
	}

	@Override
	public @Nullable Lease acquire(LockRequest request) throws InterruptedException {
		Deadline deadline = Deadline.after(request.waitTime());
		while (true) {
			try {
				return new QueuePlace(this.curator.get(), request, deadline).await();
			}
			catch (InterruptedException ex) {
				throw ex;
			}
			catch (Exception ex) {
				if (deadline.hasPassed() || !RETRIED.contains(ZooKeeperAnswers.keeperException(ex).code())) {
					throw ZooKeeperAnswers.failure(request.key(), "acquired", ex);
				}
				Thread.sleep(PAUSE_MILLIS);
			}
		}
	}

	@Override
	public @Nullable LockHolder holder(String key) {
		List<LockNode> holders = holders(key);
		if (holders.isEmpty()) {
			return null;
		}
		String path = LockNode.lock(key) + '/' + holders.get(0).name();
		CuratorEvent read = answer(key, "inspected",
				(callback) -> this.curator.get().getData().inBackground(callback).forPath(path));
		return (read == null) ? null : new LockHolder("held by " + new String(read.getData(), StandardCharsets.UTF_8),
				Instant.ofEpochMilli(read.getStat().getCtime()), null, read.getStat().getCzxid());
	}

	private List<LockNode> holders(String key) {
		CuratorEvent children = answer(key, "inspected",
				(callback) -> this.curator.get().getChildren().inBackground(callback).forPath(LockNode.lock(key)));
		return (children != null) ? LockNode.holders(LockNode.queue(children.getChildren())) : List.of();
	}

	/**
	 * Deletes the nodes of all holders, whatever their sessions are.
	 */
	@Override
	public boolean forceRelease(String key) {
		boolean released = false;
		for (LockNode node : holders(key)) {
			String path = LockNode.lock(key) + '/' + node.name();
			released |= answer(key, "force-released",
					(callback) -> this.curator.get().delete().inBackground(callback).forPath(path)) != null;
		}
		return released;
	}

	/**
	 * A majority of the servers takes part in the answer, even if the node does not
	 * exist.
	 */
	@Override
	public Status ping() {
		answer("ping", "checked",
				(callback) -> ZooKeeperAnswers.check(this.curator.get(), LockNode.lock("ping"), callback));
		return new Status("ZooKeeper at " + this.curator.get().getZookeeperClient().getCurrentConnectionString(), null);
	}

	private static @Nullable CuratorEvent answer(String key, String what, ZooKeeperAnswers.Request request) {
		try {
			return ZooKeeperAnswers.send(request)
				.orTimeout(ZooKeeperAnswers.SHORTEST_WAIT.toMillis(), TimeUnit.MILLISECONDS)
				.join();
		}
		catch (CompletionException ex) {
			if (ZooKeeperAnswers.isNoNode(ex)) {
				return null;
			}
			throw ZooKeeperAnswers.failure(key, what, ex);
		}
	}

	@Override
	public Set<Capability> capabilities() {
		return Set.of(Capability.SHARED, Capability.FAIR);
	}

	@Override
	public String name() {
		return "zookeeper";
	}

}
