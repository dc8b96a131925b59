package io.github.holdfast.store.zookeeper;

import java.util.List;
import java.util.concurrent.FutureTask;

import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockRequest;
import io.github.holdfast.testsupport.TestLease;
import io.github.holdfast.testsupport.Threads;

import static org.awaitility.Awaitility.await;

/** What ZooKeeper has of the locks, as an operator would see it. */
record LockNodes(CuratorFramework client) {

	/** The parents of the locks. */
	List<String> locks() {
		return children("/holdfast/locks");
	}

	/** The places in the queue of a lock, in no order. */
	List<String> queue(String key) {
		return children(path(key));
	}

	String path(String key) {
		return LockNode.lock(key);
	}

	private List<String> children(String path) {
		try {
			// Another server may know more than the one that is asked
			this.client.sync().forPath(path);
			return this.client.getChildren().forPath(path);
		}
		catch (KeeperException.NoNodeException ex) {
			return List.of();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	void delete(String path) {
		try {
			this.client.delete().deletingChildrenIfNeeded().forPath(path);
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Starts to wait, and returns when the wait has begun. */
	FutureTask<@Nullable TestLease> waiter(LockBackend backend, LockRequest request) {
		int before = queue(request.key()).size();
		FutureTask<@Nullable TestLease> waiter = Threads.start(() -> TestLease.acquire(backend, request));
		await().until(() -> queue(request.key()).size() == before + 1);
		return waiter;
	}

}
