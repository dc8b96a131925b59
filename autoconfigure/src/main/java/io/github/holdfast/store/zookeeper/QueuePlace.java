package io.github.holdfast.store.zookeeper;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.store.Deadline;

/**
 * The place of one request in the queue of its lock, in one session.
 *
 * <ol>
 * <li>Create a node with the next number of the queue.
 * <li>Look at the queue: the first one has the lock.
 * <li>Otherwise wait until the node in front of this one is gone, and look again.
 * </ol>
 *
 * <p>
 * When the connection is lost while the node is created, it may be there or not. As soon
 * as the session is connected again, it is looked for by its prefix, after a request that
 * waits for all that is under way.
 */
final class QueuePlace {

	private final LockSession session;

	private final LockRequest request;

	private final Deadline deadline;

	private final String lock;

	private final String prefix;

	/** The path of the node, if it is known. */
	private @Nullable String path;

	/** The transaction that created the node, or 0 if that is not known. */
	private long zxid;

	/** Whether a node was asked for, and nobody knows whether it is there. */
	private boolean unknown;

	private boolean parentMissing;

	QueuePlace(LockSession session, LockRequest request, Deadline deadline) {
		this.session = session;
		this.request = request;
		this.deadline = deadline;
		this.lock = session.paths().lock(request.key());
		this.prefix = LockNode.prefix(request, session.id(), session.nextPlace());
	}

	/**
	 * Wait for the lock.
	 * @return the lease, or {@code null} if another holder kept the lock for the whole
	 * wait
	 */
	@Nullable LockLease await() throws KeeperException, InterruptedException {
		this.session.enter();
		LockLease lease = null;
		try {
			lease = queue();
			if (lease == null) {
				// Otherwise it could be in the way of the next attempt
				ZooKeeperAnswers.awaitUninterruptibly(remove(), this.deadline);
			}
			return lease;
		}
		catch (KeeperException | InterruptedException | RuntimeException | Error ex) {
			giveUp(ex);
			throw ex;
		}
		finally {
			if (lease == null) {
				this.session.leave();
			}
		}
	}

	private CompletableFuture<Boolean> remove() {
		return this.session.remove(this.lock, this.prefix, this.path);
	}

	private void giveUp(Throwable cause) {
		if (this.path != null || this.unknown) {
			try {
				ZooKeeperAnswers.awaitUninterruptibly(remove(), Deadline.after(ZooKeeperAnswers.MIN_TIMEOUT));
			}
			catch (KeeperException ex) {
				// It goes on in the background
				cause.addSuppressed(ex);
			}
		}
	}

	private @Nullable LockLease queue() throws KeeperException, InterruptedException {
		while (true) {
			try {
				View view = look();
				LockNode own = LockNode.first(view.queue(), this.prefix);
				if (own == null) {
					// Never created, or deleted by an operator
					this.path = null;
					this.unknown = false;
					continue;
				}
				adopt(own, view.queue());
				LockNode predecessor = own.predecessor(view.queue());
				if (predecessor == null) {
					return lease(view);
				}
				if (this.deadline.hasPassed()) {
					return null;
				}
				awaitRemoval(this.lock + '/' + predecessor.name());
			}
			catch (KeeperException.ConnectionLossException ex) {
				if (!LockSessions.awaitConnection(this.session, this.deadline)) {
					throw ex;
				}
			}
		}
	}

	/**
	 * Look at the queue, as it is after all that is decided by now. If this place is not
	 * in it yet, it is added with the same round trip. The offset must not be older than
	 * the queue, as the predecessor may have raised it.
	 */
	private View look() throws KeeperException, InterruptedException {
		Deadline seenUntil = Deadline.ofLease(this.request.leaseTime());
		CompletableFuture<Requests.Created> created = (this.path == null && !this.unknown) ? create() : null;
		if (created == null) {
			this.session.sync(this.lock);
		}
		CompletableFuture<List<String>> names = LockSession.absentAs(List.of(), this.session.children(this.lock));
		CompletableFuture<EpochOffset> offset = EpochOffset.read(this.session);
		if (created != null && !isCreated(created)) {
			return look();
		}
		return new View(seenUntil, LockNode.of(ZooKeeperAnswers.await(names, this.deadline)),
				ZooKeeperAnswers.await(offset, this.deadline));
	}

	private CompletableFuture<Requests.Created> create() {
		this.unknown = true;
		if (this.parentMissing) {
			this.session.createParent(this.lock);
		}
		return this.session.create(this.lock + '/' + this.prefix,
				this.request.holder().getBytes(StandardCharsets.UTF_8));
	}

	private boolean isCreated(CompletableFuture<Requests.Created> answer) throws KeeperException, InterruptedException {
		try {
			Requests.Created created = ZooKeeperAnswers.await(answer, this.deadline);
			this.path = created.path();
			this.zxid = created.zxid();
			return true;
		}
		catch (KeeperException.NoNodeException ex) {
			this.unknown = false;
			if (this.parentMissing) {
				throw ex;
			}
			this.parentMissing = true;
			return false;
		}
	}

	/**
	 * Take a node for this place, and delete others that it has by mistake.
	 */
	private void adopt(LockNode own, List<LockNode> queue) throws KeeperException, InterruptedException {
		String found = this.lock + '/' + own.name();
		if (!found.equals(this.path)) {
			this.path = found;
			this.zxid = 0;
		}
		for (LockNode node : queue) {
			if (node.name().startsWith(this.prefix) && !node.equals(own)) {
				ZooKeeperAnswers.await(this.session.delete(this.lock + '/' + node.name()), this.deadline);
			}
		}
		this.unknown = false;
	}

	/**
	 * Wait until a node is gone, the wait time is over, or the connection has changed.
	 */
	private void awaitRemoval(String predecessor) throws KeeperException, InterruptedException {
		Semaphore changed = new Semaphore(0);
		Watcher watcher = (event) -> changed.release();
		CompletableFuture<Requests.Content> watched = this.session.read(predecessor, watcher);
		boolean fired = false;
		try {
			ZooKeeperAnswers.await(watched, this.deadline);
			fired = changed.tryAcquire(this.deadline.remainingNanos(), TimeUnit.NANOSECONDS);
		}
		catch (KeeperException.NoNodeException ex) {
			fired = true;
		}
		finally {
			if (!fired) {
				watched.thenRun(() -> this.session.unwatch(predecessor, watcher));
			}
		}
	}

	private LockLease lease(View view) throws KeeperException, InterruptedException {
		String node = Objects.requireNonNull(this.path);
		if (this.zxid == 0) {
			this.zxid = ZooKeeperAnswers.await(this.session.read(node, null), this.deadline).stat().getCzxid();
		}
		EpochOffset raised = view.offset();
		while (this.zxid + raised.value() < this.request.minEpoch()) {
			raised = raised.raise(this.session, node, this.request.minEpoch() - this.zxid, this.deadline);
		}
		return new ZooKeeperLockLease(this.session, this.request, view.seenUntil(), this.prefix, node,
				this.zxid + raised.value(), view.queue().size() == 1);
	}

	/**
	 * What was seen at one time.
	 *
	 * @param seenUntil the end of a lease that was seen
	 * @param queue the places, in no order
	 * @param offset what is added to zxids
	 */
	private record View(Deadline seenUntil, List<LockNode> queue, EpochOffset offset) {
	}

}
