package io.github.holdfast.store.zookeeper;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.CuratorEvent;
import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

import org.springframework.util.function.SingletonSupplier;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockRequest;
import io.github.holdfast.ManageableLockBackend;
import io.github.holdfast.store.Deadline;

/**
 * Locks in ZooKeeper 3.6 or later, through a {@link CuratorFramework} that is never
 * closed here. A held lock is the first ephemeral node of a queue. Waiters of all nodes
 * are served in the order of their arrival; each is woken when the node in front of it is
 * deleted.
 *
 * <p>
 * The lock is held as long as the session lives. The lease counts as lost with its
 * session, even if another session follows, and if nothing has proven for two thirds of
 * the session timeout that the session lives. The epoch is the id of the transaction that
 * created the node.
 *
 * <p>
 * Not for the threads that deliver the events of ZooKeeper or Curator: a lock that is
 * acquired there waits for its own thread.
 */
public final class ZooKeeperLockBackend implements ManageableLockBackend {

	private static final long PAUSE_MILLIS = 50;

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
			if (Thread.interrupted()) {
				throw new InterruptedException();
			}
			try {
				return new QueuePlace(this.curator.get(), request, deadline).await();
			}
			catch (KeeperException.SessionExpiredException | KeeperException.ConnectionLossException
					| KeeperException.NoNodeException ex) {
				if (deadline.hasPassed()) {
					throw ZooKeeperAnswers.failure(request.key(), "acquired", ex);
				}
				Thread.sleep(PAUSE_MILLIS);
			}
			catch (KeeperException ex) {
				throw ZooKeeperAnswers.failure(request.key(), "acquired", ex);
			}
		}
	}

	@Override
	public @Nullable LockHolder holder(String key) {
		String lock = LockNode.lock(key);
		for (LockNode node : holders(key, lock)) {
			String path = lock + '/' + node.name();
			CuratorEvent read = answer(key, "inspected",
					(callback) -> this.curator.get().getData().inBackground(callback).forPath(path));
			if (read != null) {
				return new LockHolder("held by " + new String(read.getData(), StandardCharsets.UTF_8),
						Instant.ofEpochMilli(read.getStat().getCtime()), null, read.getStat().getCzxid());
			}
		}
		return null;
	}

	private List<LockNode> holders(String key, String lock) {
		CuratorEvent children = answer(key, "inspected",
				(callback) -> this.curator.get().getChildren().inBackground(callback).forPath(lock));
		return (children != null) ? LockNode.holders(LockNode.queue(children.getChildren())) : List.of();
	}

	/**
	 * Deletes the nodes of all holders, whatever their sessions are.
	 */
	@Override
	public boolean forceRelease(String key) {
		String lock = LockNode.lock(key);
		boolean released = false;
		for (LockNode node : holders(key, lock)) {
			released |= answer(key, "force-released",
					(callback) -> this.curator.get()
						.delete()
						.inBackground(callback)
						.forPath(lock + '/' + node.name())) != null;
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
				(callback) -> this.curator.get()
					.transaction()
					.inBackground(callback)
					.forOperations(this.curator.get().transactionOp().check().forPath(LockNode.lock("ping"))));
		return new Status("ZooKeeper at " + this.curator.get().getZookeeperClient().getCurrentConnectionString(), null);
	}

	private @Nullable CuratorEvent answer(String key, String what, ZooKeeperAnswers.Request request) {
		CompletableFuture<CuratorEvent> answer = ZooKeeperAnswers.send(request);
		try {
			return ZooKeeperAnswers.await(answer, Deadline.PASSED);
		}
		catch (KeeperException.NoNodeException ex) {
			return null;
		}
		catch (KeeperException ex) {
			throw ZooKeeperAnswers.failure(key, what, ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new LockBackendException(key, "could not be " + what + ", the thread was interrupted", ex);
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

	@Override
	public String toString() {
		return "backend 'zookeeper'";
	}

}
