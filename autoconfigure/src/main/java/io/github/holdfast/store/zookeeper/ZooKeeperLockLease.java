package io.github.holdfast.store.zookeeper;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.ZooKeeper;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockRequest;

/**
 * The first place in the queue of a lock. It is held as long as its session lives and its
 * node exists. Each answer of a majority of the servers proves that for two thirds of the
 * session timeout. The last third is for the leader, which can hear of a client late. A
 * renewal is such a question.
 */
final class ZooKeeperLockLease implements LockBackend.Lease {

	private static final long TIMEOUT_SECONDS = 5;

	private final CuratorFramework curator;

	private final ZooKeeper session;

	private final String key;

	private final String node;

	private final long epoch;

	private final long sentAt;

	private volatile long provenAt;

	private volatile boolean over;

	ZooKeeperLockLease(CuratorFramework curator, ZooKeeper session, LockRequest request, String node, long epoch,
			long sentAt) {
		this.curator = curator;
		this.session = session;
		this.key = request.key();
		this.node = node;
		this.epoch = epoch;
		this.sentAt = sentAt;
		this.provenAt = sentAt;
		if (session.getSessionTimeout() < request.leaseTime().toMillis()) {
			proveLater();
		}
	}

	/**
	 * The renewals of a long lease are too rare for a short session.
	 */
	private void proveLater() {
		CompletableFuture.delayedExecutor(this.session.getSessionTimeout() / 3, TimeUnit.MILLISECONDS).execute(() -> {
			if (!this.over && isOfThisSession()) {
				prove();
				proveLater();
			}
		});
	}

	private CompletableFuture<?> prove() {
		long asked = System.nanoTime();
		return ZooKeeperAnswers.send((callback) -> ZooKeeperAnswers.check(this.curator, this.node, callback))
			.thenRun(() -> this.provenAt = asked);
	}

	private boolean isOfThisSession() {
		return this.session.getState().isAlive();
	}

	@Override
	public long epoch() {
		return this.epoch;
	}

	@Override
	public long sentAt() {
		return this.sentAt;
	}

	@Override
	public boolean isAlive() {
		long provenNanos = TimeUnit.MILLISECONDS.toNanos(this.session.getSessionTimeout()) / 3 * 2;
		return !this.over && isOfThisSession() && System.nanoTime() - this.provenAt < provenNanos;
	}

	@Override
	public CompletionStage<Boolean> renew(Duration leaseTime) {
		return prove().orTimeout(TIMEOUT_SECONDS, TimeUnit.SECONDS).handle((proven, failure) -> {
			boolean lost = this.over || !isOfThisSession() || (failure != null && ZooKeeperAnswers.isNoNode(failure));
			if (!lost && failure != null) {
				throw ZooKeeperAnswers.failure(this.key, "renewed", failure);
			}
			this.over = lost;
			return !lost;
		});
	}

	/**
	 * A lease is lost with its session, even if its node still exists.
	 */
	@Override
	public CompletionStage<Boolean> release() {
		this.over = true;
		return ZooKeeperAnswers.delete(this.curator, this.node)
			.orTimeout(TIMEOUT_SECONDS, TimeUnit.SECONDS)
			.handle((deleted, failure) -> {
				if (failure != null && !ZooKeeperAnswers.isNoNode(failure)) {
					throw ZooKeeperAnswers.failure(this.key, "released", failure);
				}
				return failure == null && isOfThisSession();
			});
	}

}
