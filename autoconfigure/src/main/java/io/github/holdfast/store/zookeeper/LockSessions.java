package io.github.holdfast.store.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.utils.ZKPaths;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

import io.github.holdfast.store.Deadline;
import io.github.holdfast.store.Polling;

/**
 * The sessions of one Curator client, one after the other. Curator connects and begins
 * new sessions; what is asked in them does not pass through it, as it would be tried
 * again in another session.
 */
final class LockSessions {

	private static final Polling POLLING = new Polling(Duration.ofMillis(5), Duration.ofMillis(100));

	private final Supplier<CuratorFramework> curator;

	private @Nullable LockSession current;

	LockSessions(Supplier<CuratorFramework> curator) {
		this.curator = curator;
	}

	/**
	 * The current session, as soon as its client is connected.
	 */
	LockSession connected(Deadline deadline) throws KeeperException, InterruptedException {
		ZooKeeper client = POLLING.until(ZooKeeperAnswers.atLeastMinimum(deadline.remaining()), (left) -> client());
		if (client == null) {
			throw new KeeperException.ConnectionLossException();
		}
		return of(client, deadline);
	}

	/**
	 * Wait until a session is connected again.
	 * @return {@code false} if it is not in time
	 */
	static boolean awaitConnection(LockSession session, Deadline deadline)
			throws KeeperException, InterruptedException {
		Boolean usable = POLLING.until(deadline.remaining(),
				(left) -> (session.isConnected() || session.hasEnded()) ? true : null);
		if (session.hasEnded()) {
			throw new KeeperException.SessionExpiredException();
		}
		return usable != null;
	}

	private @Nullable ZooKeeper client() {
		try {
			ZooKeeper client = this.curator.get().getZookeeperClient().getZooKeeper();
			return (client.getState() == ZooKeeper.States.CONNECTED) ? client : null;
		}
		catch (KeeperException.ConnectionLossException ex) {
			return null;
		}
		catch (RuntimeException ex) {
			throw ex;
		}
		catch (Exception ex) {
			throw new IllegalStateException("Curator has no client of ZooKeeper", ex);
		}
	}

	private LockSession of(ZooKeeper client, Deadline deadline) throws KeeperException, InterruptedException {
		synchronized (this) {
			if (this.current != null && this.current.isOf(client)) {
				return this.current;
			}
		}
		LockPaths paths = new LockPaths(
				ZKPaths.fixForNamespace(this.curator.get().getNamespace(), LockPaths.LOCKS, false));
		List<ACL> acl = acl(new Requests(client), paths.locks(), deadline);
		synchronized (this) {
			if (this.current == null || !this.current.isOf(client)) {
				this.current = new LockSession(client, paths, acl);
			}
			return this.current;
		}
	}

	/**
	 * The parent of all locks is created as the application's client creates nodes, and
	 * all others get its ACL.
	 */
	private List<ACL> acl(Requests requests, String locks, Deadline deadline)
			throws KeeperException, InterruptedException {
		try {
			return ZooKeeperAnswers.await(requests.acl(locks), deadline);
		}
		catch (KeeperException.NoNodeException ex) {
			ZooKeeperAnswers.await(createLocks(), deadline);
			return ZooKeeperAnswers.await(requests.acl(locks), deadline);
		}
	}

	private CompletableFuture<Void> createLocks() {
		CompletableFuture<Void> created = new CompletableFuture<>();
		try {
			this.curator.get().create().creatingParentsIfNeeded().inBackground((client, event) -> {
				KeeperException.Code code = KeeperException.Code.get(event.getResultCode());
				if (code == KeeperException.Code.OK || code == KeeperException.Code.NODEEXISTS) {
					created.complete(null);
				}
				else {
					created.completeExceptionally(KeeperException.create(code, LockPaths.LOCKS));
				}
			}).forPath(LockPaths.LOCKS, new byte[0]);
		}
		catch (RuntimeException ex) {
			throw ex;
		}
		catch (Exception ex) {
			created.completeExceptionally(ex);
		}
		return created;
	}

	/**
	 * Where the servers are.
	 */
	String address() {
		return this.curator.get().getZookeeperClient().getCurrentConnectionString();
	}

	/**
	 * Forget a session whose parent of all locks is gone.
	 */
	synchronized void forget(LockSession session) {
		if (this.current == session) {
			this.current = null;
		}
	}

}
