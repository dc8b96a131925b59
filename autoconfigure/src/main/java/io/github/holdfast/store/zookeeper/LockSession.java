package io.github.holdfast.store.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.holdfast.store.DaemonThreads;
import io.github.holdfast.store.Deadline;

/**
 * One session of ZooKeeper, with all that is asked in it. Knows without I/O whether the
 * session is provably alive: by the clock of this process a majority of the servers has
 * carried out a request that was sent less than two thirds of the session time-out ago,
 * and the client is connected. While the session is used, it sends one from time to time.
 *
 * <p>
 * The client calls itself connected until it tries the next server, some seconds after it
 * lost its connection ({@code ClientCnxn.SendThread} pauses first). The proof by the
 * clock holds meanwhile.
 *
 * <p>
 * The servers' time runs from when they last heard of the client, and the leader hears of
 * clients of other servers half a tick late. A session has two ticks at least, so a third
 * is enough for that.
 */
final class LockSession {

	private static final Logger logger = LoggerFactory.getLogger(LockSession.class);

	private static final Duration PAUSE = Duration.ofMillis(100);

	private static final Duration PAUSE_AFTER_REFUSAL = Duration.ofSeconds(5);

	private final ZooKeeper client;

	private final Requests requests;

	private final LockPaths paths;

	private final List<ACL> acl;

	/** Acquisitions that are under way, and locks that are held. */
	private final AtomicInteger users = new AtomicInteger();

	private final AtomicLong places = new AtomicLong();

	private final AtomicBoolean beating = new AtomicBoolean();

	private volatile Deadline provenUntil = Deadline.PASSED;

	/**
	 * Create a session.
	 * @param client a client that has been connected
	 * @param paths where the locks are
	 * @param acl who may use the nodes of the locks
	 */
	LockSession(ZooKeeper client, LockPaths paths, List<ACL> acl) {
		this.client = client;
		this.requests = new Requests(client);
		this.paths = paths;
		this.acl = acl;
	}

	boolean isOf(ZooKeeper client) {
		return this.client == client;
	}

	long id() {
		return this.client.getSessionId();
	}

	LockPaths paths() {
		return this.paths;
	}

	long nextPlace() {
		return this.places.incrementAndGet();
	}

	/**
	 * Whether the session is alive as far as this process can prove. May become
	 * {@code true} again when the client is connected again.
	 */
	boolean isProven() {
		return isConnected() && !this.provenUntil.hasPassed();
	}

	boolean isConnected() {
		return this.client.getState() == ZooKeeper.States.CONNECTED;
	}

	/**
	 * Whether the session is over for good.
	 */
	boolean hasEnded() {
		return !this.client.getState().isAlive();
	}

	// Use

	void enter() {
		this.users.incrementAndGet();
		if (this.beating.compareAndSet(false, true)) {
			beatLater();
		}
	}

	void leave() {
		this.users.decrementAndGet();
	}

	private void beatLater() {
		DaemonThreads.later(Duration.ofMillis(this.client.getSessionTimeout() / 6), this::beat);
	}

	private void beat() {
		if (this.users.get() > 0 && !hasEnded()) {
			check(this.paths.locks());
			beatLater();
			return;
		}
		this.beating.set(false);
		// Somebody may have come in between, who has seen that it beats
		if (this.users.get() > 0 && !hasEnded() && this.beating.compareAndSet(false, true)) {
			beatLater();
		}
	}

	private <T> CompletableFuture<T> proves(CompletableFuture<T> answer, Deadline provenUntil) {
		return answer.whenComplete((result, failure) -> {
			if (failure == null) {
				proven(provenUntil);
			}
		});
	}

	private synchronized void proven(Deadline until) {
		if (until.remainingNanos() > this.provenUntil.remainingNanos()) {
			this.provenUntil = until;
		}
	}

	/**
	 * The end of what a request proves that is about to be sent.
	 */
	private Deadline provable() {
		return Deadline.after(Duration.ofMillis(this.client.getSessionTimeout() * 2L / 3));
	}

	// Requests

	/**
	 * Create the parent of a lock, which ZooKeeper deletes when it has been empty for
	 * some time.
	 */
	void createParent(String path) {
		this.requests.create(path, new byte[0], this.acl, CreateMode.CONTAINER);
	}

	CompletableFuture<Requests.Created> create(String path, byte[] data) {
		Deadline provable = provable();
		return proves(this.requests.create(path, data, this.acl, CreateMode.EPHEMERAL_SEQUENTIAL), provable);
	}

	void sync(String path) {
		this.requests.sync(path);
	}

	CompletableFuture<List<String>> children(String path) {
		return this.requests.children(path);
	}

	CompletableFuture<Requests.Content> read(String path, @Nullable Watcher watcher) {
		return this.requests.read(path, watcher);
	}

	void unwatch(String path, Watcher watcher) {
		this.requests.unwatch(path, watcher);
	}

	/**
	 * Ask a majority of the servers whether a node is there.
	 */
	CompletableFuture<Void> check(String path) {
		return all(path, Op.check(path, -1));
	}

	/**
	 * Write a number beside the locks, if another node is still there.
	 */
	CompletableFuture<Void> writeIfPresent(String present, String path, byte[] data, @Nullable Integer version) {
		return all(path, Op.check(present, -1), (version != null) ? Op.setData(path, data, version)
				: Op.create(path, data, this.acl, CreateMode.PERSISTENT));
	}

	private CompletableFuture<Void> all(String path, Op... operations) {
		Deadline provable = provable();
		return proves(this.requests.all(path, operations), provable);
	}

	// Removal

	/**
	 * Delete a node, or all nodes with a prefix if none is given. What cannot be deleted
	 * now is deleted as soon as ZooKeeper can be reached, unless the session ends before.
	 * @return what became of the first attempt; {@code false} if there was no such node
	 */
	CompletableFuture<Boolean> remove(String lock, String prefix, @Nullable String node) {
		CompletableFuture<Boolean> removed = (node != null) ? delete(node) : removeAll(lock, prefix);
		removed.whenComplete((result, failure) -> {
			if (failure != null) {
				removeLater(lock, prefix, ZooKeeperAnswers.keeperException(failure));
			}
		});
		return removed;
	}

	private void removeLater(String lock, String prefix, KeeperException failure) {
		if (hasEnded()) {
			return;
		}
		boolean unknown = ZooKeeperAnswers.isUnknown(failure);
		if (!unknown) {
			logger.warn("A node of '{}' could not be deleted, which is tried again until the session of ZooKeeper ends",
					lock, failure);
		}
		DaemonThreads.later(unknown ? PAUSE : PAUSE_AFTER_REFUSAL, () -> remove(lock, prefix, null));
	}

	private CompletableFuture<Boolean> removeAll(String lock, String prefix) {
		sync(lock);
		return absentAs(List.<String>of(), children(lock)).thenCompose((names) -> {
			CompletableFuture<Boolean> all = CompletableFuture.completedFuture(false);
			for (String name : names) {
				if (name.startsWith(prefix)) {
					all = all.thenCombine(delete(lock + '/' + name), Boolean::logicalOr);
				}
			}
			return all;
		});
	}

	CompletableFuture<Boolean> delete(String path) {
		return absentAs(false, this.requests.delete(path).thenApply((deleted) -> true));
	}

	/**
	 * Take a node that is not there for a value.
	 */
	static <T> CompletableFuture<T> absentAs(T value, CompletableFuture<T> answer) {
		return answer.exceptionallyCompose((failure) -> {
			KeeperException cause = ZooKeeperAnswers.keeperException(failure);
			return (cause.code() == KeeperException.Code.NONODE) ? CompletableFuture.completedFuture(value)
					: CompletableFuture.failedFuture(cause);
		});
	}

}
