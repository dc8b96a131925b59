package io.github.holdfast.store.zookeeper;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests in one session. They are worked on, and answered, in the order in which
 * they were sent; an answer that fails has a {@link KeeperException}.
 */
final class Requests {

	private final ZooKeeper client;

	Requests(ZooKeeper client) {
		this.client = client;
	}

	CompletableFuture<Created> create(String path, byte[] data, List<ACL> acl, CreateMode mode) {
		CompletableFuture<Created> answer = new CompletableFuture<>();
		this.client.create(path, data, acl, mode, (rc, sent, context, name, stat) -> {
			if (succeeded(answer, rc, path)) {
				answer.complete(new Created(name, stat.getCzxid()));
			}
		}, null);
		return answer;
	}

	CompletableFuture<Void> delete(String path) {
		CompletableFuture<Void> answer = new CompletableFuture<>();
		this.client.delete(path, -1, (rc, sent, context) -> {
			if (succeeded(answer, rc, path)) {
				answer.complete(null);
			}
		}, null);
		return answer;
	}

	CompletableFuture<List<String>> children(String path) {
		CompletableFuture<List<String>> answer = new CompletableFuture<>();
		this.client.getChildren(path, null, (rc, sent, context, children, stat) -> {
			if (succeeded(answer, rc, path)) {
				answer.complete(children);
			}
		}, null);
		return answer;
	}

	CompletableFuture<Content> read(String path, @Nullable Watcher watcher) {
		CompletableFuture<Content> answer = new CompletableFuture<>();
		this.client.getData(path, watcher, (rc, sent, context, data, stat) -> {
			if (succeeded(answer, rc, path)) {
				answer.complete(new Content((data != null) ? data : new byte[0], stat));
			}
		}, null);
		return answer;
	}

	CompletableFuture<List<ACL>> acl(String path) {
		CompletableFuture<List<ACL>> answer = new CompletableFuture<>();
		this.client.getACL(path, null, (rc, sent, context, acl, stat) -> {
			if (succeeded(answer, rc, path)) {
				answer.complete(acl);
			}
		}, null);
		return answer;
	}

	/**
	 * Make the server that answers the next request know all that is decided by now.
	 */
	void sync(String path) {
		this.client.sync(path, (rc, sent, context) -> {
		}, null);
	}

	/**
	 * Do all or nothing. A majority of the servers takes part, even if nothing changes.
	 */
	CompletableFuture<Void> all(String path, Op... operations) {
		CompletableFuture<Void> answer = new CompletableFuture<>();
		this.client.multi(List.of(operations), (rc, sent, context, results) -> {
			if (succeeded(answer, rc, path)) {
				answer.complete(null);
			}
		}, null);
		return answer;
	}

	void unwatch(String path, Watcher watcher) {
		this.client.removeWatches(path, watcher, Watcher.WatcherType.Data, true, (rc, sent, context) -> {
		}, null);
	}

	private static boolean succeeded(CompletableFuture<?> answer, int rc, String path) {
		KeeperException.Code code = KeeperException.Code.get(rc);
		if (code == KeeperException.Code.OK) {
			return true;
		}
		answer.completeExceptionally(KeeperException.create(code, path));
		return false;
	}

	/**
	 * A node that was created.
	 *
	 * @param path its path, with its number if it has one
	 * @param zxid the transaction that created it
	 */
	record Created(String path, long zxid) {
	}

	/**
	 * What is in a node.
	 *
	 * @param data the bytes
	 * @param stat how it was created and changed
	 */
	record Content(byte[] data, Stat stat) {
	}

}
