package io.github.holdfast.store.zookeeper;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;

import org.apache.zookeeper.KeeperException;

import io.github.holdfast.LockRequest;
import io.github.holdfast.store.AnswerTimeout;
import io.github.holdfast.store.Answers;
import io.github.holdfast.store.Deadline;
import io.github.holdfast.store.ExpiringLease;

/**
 * The first place in the queue of a lock. It is held as long as the session lives and the
 * node is there, and looked at from time to time.
 */
final class ZooKeeperLockLease extends ExpiringLease {

	private static final AnswerTimeout releases = new AnswerTimeout(Duration.ofSeconds(5));

	private final LockSession session;

	private final String prefix;

	private final String path;

	/** Seen when the lock was taken, and told once. */
	private final AtomicBoolean alone;

	private final AtomicBoolean left = new AtomicBoolean();

	/**
	 * Create a lease of a place that entered its session.
	 * @param session the session, which is left when the lease is over
	 * @param request what was asked for
	 * @param deadline until when the place was seen
	 * @param prefix what the name of the node begins with
	 * @param path the node
	 * @param epoch the epoch
	 * @param alone whether there was no other place in the queue
	 */
	ZooKeeperLockLease(LockSession session, LockRequest request, Deadline deadline, String prefix, String path,
			long epoch, boolean alone) {
		super(request, epoch, deadline);
		this.session = session;
		this.prefix = prefix;
		this.path = path;
		this.alone = new AtomicBoolean(alone);
	}

	@Override
	protected boolean isKept() {
		return this.session.isProven();
	}

	/**
	 * Not while the connection is lost: the node is there as long as the session lives.
	 */
	@Override
	public boolean hasEnded() {
		return super.hasEnded() || this.session.hasEnded();
	}

	/**
	 * Looks whether the node is there. The lease time says for how long that counts.
	 */
	@Override
	protected CompletionStage<Boolean> extend(Duration leaseTime) {
		return Answers.inTime(this.session.check(this.path), ZooKeeperAnswers.renewalTimeout(leaseTime))
			.handle((seen, failure) -> failure == null || isThereAfter(ZooKeeperAnswers.keeperException(failure)));
	}

	private boolean isThereAfter(KeeperException failure) {
		if (failure instanceof KeeperException.NoNodeException
				|| failure instanceof KeeperException.SessionExpiredException) {
			leave();
			return false;
		}
		throw ZooKeeperAnswers.failure(key(), "verified", failure);
	}

	/**
	 * Unknown once the lock is released: what was asked then would be answered too late.
	 */
	@Override
	public CompletionStage<Boolean> othersWait() {
		if (super.hasEnded()) {
			return super.othersWait();
		}
		return this.alone.getAndSet(false) ? CompletableFuture.completedStage(false)
				: this.session.children(lock()).thenApply((places) -> places.size() > 1);
	}

	@Override
	protected CompletionStage<Boolean> giveBack() {
		leave();
		return releases.limit(this.session.remove(lock(), this.prefix, this.path).copy())
			.exceptionally((failure) -> unreleased(ZooKeeperAnswers.keeperException(failure)));
	}

	private void leave() {
		if (this.left.compareAndSet(false, true)) {
			this.session.leave();
		}
	}

	private String lock() {
		return this.path.substring(0, this.path.lastIndexOf('/'));
	}

	private boolean unreleased(KeeperException failure) {
		if (failure instanceof KeeperException.SessionExpiredException) {
			return false;
		}
		throw ZooKeeperAnswers.failure(key(), "released", failure);
	}

}
