package io.github.holdfast.store.zookeeper;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.WatcherRemoveCuratorFramework;
import org.apache.curator.framework.api.CuratorEvent;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackend.Lease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.store.Polling.Deadline;

/**
 * The place of one request in the queue of its lock.
 *
 * <ol>
 * <li>Create a node with the next number of the queue.
 * <li>Read the queue: the first node has the lock.
 * <li>Otherwise wait until the node in front is deleted, and read again.
 * </ol>
 *
 * If the connection is lost while the node is created, Curator finds it by its
 * protection, or deletes it.
 */
final class QueuePlace {

	private static final long PAUSE_MILLIS = 50;

	private final WatcherRemoveCuratorFramework curator;

	private final LockRequest request;

	private final Deadline deadline;

	private final String lock;

	/** From before the last request that proved that the session lives. */
	private long sentAt = System.nanoTime();

	QueuePlace(CuratorFramework curator, LockRequest request, Deadline deadline) {
		this.curator = curator.newWatcherRemoveCuratorFramework();
		this.request = request;
		this.deadline = deadline;
		this.lock = LockNode.lock(request.key());
	}

	/**
	 * Waits for the lock.
	 * @return the lease, or {@code null} if another holder kept the lock
	 * @throws Exception if ZooKeeper failed, the node was removed or the thread was
	 * interrupted
	 */
	@Nullable Lease await() throws Exception {
		ZooKeeper session = this.curator.getZookeeperClient().getZooKeeper();
		CompletableFuture<CuratorEvent> created = create();
		Lease lease = null;
		try {
			CuratorEvent event = ZooKeeperAnswers.await(created, this.deadline);
			lease = isFirst(session, event.getName()) ? granted(session, event.getName(), event.getStat()) : null;
			return lease;
		}
		finally {
			this.curator.removeWatchers();
			if (lease == null) {
				leave(created);
			}
		}
	}

	private CompletableFuture<CuratorEvent> create() {
		byte[] holder = this.request.owner().description().getBytes(StandardCharsets.UTF_8);
		return ZooKeeperAnswers.send((callback) -> this.curator.create()
			.creatingParentContainersIfNeeded()
			.withProtection()
			.withMode(CreateMode.EPHEMERAL_SEQUENTIAL)
			.inBackground(callback)
			.forPath(this.lock + '/' + LockNode.name(this.request.mode()), holder));
	}

	/**
	 * Deletes the node, even if the answer to its creation is still to come. Waits for
	 * it, because the node could be in the way of the next attempt.
	 */
	private void leave(CompletableFuture<CuratorEvent> created) {
		created.thenCompose((event) -> ZooKeeperAnswers.delete(this.curator, event.getName()))
			.handle((deleted, failure) -> failure == null)
			.completeOnTimeout(false, ZooKeeperAnswers.SHORTEST_WAIT.toMillis(), TimeUnit.MILLISECONDS)
			.join();
	}

	/**
	 * Waits until no other node is in front. While the connection is lost, the node keeps
	 * its place; the end of the session ends the wait, even if its node is still there.
	 */
	private boolean isFirst(ZooKeeper session, String path) throws KeeperException, InterruptedException {
		while (true) {
			try {
				List<LockNode> queue = LockNode
					.queue(await((callback) -> this.curator.getChildren().inBackground(callback).forPath(this.lock))
						.getChildren());
				LockNode own = queue.stream()
					.filter((node) -> session.getState().isAlive() && path.equals(this.lock + '/' + node.name()))
					.findFirst()
					.orElseThrow(KeeperException.NoNodeException::new);
				LockNode predecessor = own.predecessor(queue);
				if (predecessor == null || this.deadline.hasPassed()) {
					return predecessor == null;
				}
				awaitRemoval(session, this.lock + '/' + predecessor.name());
			}
			catch (KeeperException.ConnectionLossException ex) {
				if (this.deadline.hasPassed()) {
					throw ex;
				}
				Thread.sleep(PAUSE_MILLIS);
			}
		}
	}

	/**
	 * Waits until a node is removed, the wait time is over, or the connection has
	 * changed.
	 */
	private void awaitRemoval(ZooKeeper session, String predecessor) throws KeeperException, InterruptedException {
		Semaphore changes = new Semaphore(0);
		Watcher watcher = (event) -> changes.release();
		try {
			await((callback) -> this.curator.getData()
				.usingWatcher(watcher)
				.inBackground(callback)
				.forPath(predecessor));
			// The watcher may belong to the next session
			long nanos = session.getState().isAlive() ? this.deadline.remainingNanos() : 0;
			changes.tryAcquire(nanos, TimeUnit.NANOSECONDS);
		}
		catch (KeeperException.NoNodeException ex) {
			// It was removed in between
		}
	}

	/**
	 * A node of an earlier session can still be there, because the server has not noticed
	 * yet that the session is over.
	 */
	private Lease granted(ZooKeeper session, String node, @Nullable Stat created)
			throws KeeperException, InterruptedException {
		Stat stat = (created != null) ? created
				: await((callback) -> this.curator.checkExists().inBackground(callback).forPath(node)).getStat();
		if (System.nanoTime() - this.sentAt > TimeUnit.MILLISECONDS.toNanos(PAUSE_MILLIS)) {
			this.sentAt = System.nanoTime();
			await((callback) -> ZooKeeperAnswers.check(this.curator, node, callback));
		}
		if (stat.getEphemeralOwner() != session.getSessionId()) {
			throw new KeeperException.SessionExpiredException();
		}
		return new ZooKeeperLockLease(this.curator, session, this.request, node, stat.getCzxid(), this.sentAt);
	}

	private CuratorEvent await(ZooKeeperAnswers.Request request) throws KeeperException, InterruptedException {
		return ZooKeeperAnswers.await(ZooKeeperAnswers.send(request), this.deadline);
	}

}
