package io.github.holdfast.store.zookeeper;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;

import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockRequest;
import io.github.holdfast.store.AnswerTimeout;
import io.github.holdfast.store.Deadline;
import io.github.holdfast.store.GrantedLease;

/**
 * The first place in the queue of a lock. It is held as long as the session lives and the
 * node is there.
 */
final class ZooKeeperLockLease extends GrantedLease {

	private static final AnswerTimeout releases = new AnswerTimeout(Duration.ofSeconds(5));

	private final LockSession session;

	private final String prefix;

	private final String path;

	/** Seen when the lock was taken, and told once. */
	private final AtomicBoolean alone;

	private final AtomicBoolean released = new AtomicBoolean();

	private volatile boolean ended;

	private volatile boolean lost;

	/**
	 * Create a lease of a place that entered its session.
	 * @param session the session, which is left when the lease is released
	 * @param request what was asked for
	 * @param prefix what the name of the node begins with
	 * @param path the node
	 * @param epoch the epoch
	 * @param alone whether there was no other place in the queue
	 */
	ZooKeeperLockLease(LockSession session, LockRequest request, String prefix, String path, long epoch,
			boolean alone) {
		super(request, epoch);
		this.session = session;
		this.prefix = prefix;
		this.path = path;
		this.alone = new AtomicBoolean(alone);
	}

	@Override
	public @Nullable Duration remaining() {
		return null;
	}

	@Override
	public boolean isValid() {
		return !this.ended && this.session.isProven();
	}

	/**
	 * Not while the connection is lost: the node is there as long as the session lives.
	 */
	@Override
	public boolean hasEnded() {
		return this.ended || this.session.hasEnded();
	}

	/**
	 * The lease time is not used: the session keeps itself alive.
	 */
	@Override
	public boolean renew(Duration leaseTime) {
		if (this.ended) {
			return false;
		}
		try {
			ZooKeeperAnswers.awaitUninterruptibly(this.session.check(this.path),
					Deadline.after(leaseTime.dividedBy(3)));
			return !this.ended;
		}
		catch (KeeperException.NoNodeException | KeeperException.SessionExpiredException ex) {
			this.lost = true;
			this.ended = true;
			return false;
		}
		catch (KeeperException ex) {
			throw ZooKeeperAnswers.failure(key(), "verified", ex);
		}
	}

	/**
	 * Unknown once the lock is released: what was asked then would be answered too late.
	 */
	@Override
	public CompletionStage<Boolean> othersWait() {
		if (this.ended) {
			return super.othersWait();
		}
		return this.alone.getAndSet(false) ? CompletableFuture.completedStage(false)
				: this.session.children(lock()).thenApply((places) -> places.size() > 1);
	}

	@Override
	public CompletionStage<Boolean> release() {
		this.ended = true;
		if (!this.released.compareAndSet(false, true)) {
			return CompletableFuture.completedStage(false);
		}
		this.session.leave();
		if (this.lost) {
			return CompletableFuture.completedStage(false);
		}
		return releases.limit(this.session.remove(lock(), this.prefix, this.path).copy())
			.exceptionally((failure) -> unreleased(ZooKeeperAnswers.keeperException(failure)));
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
