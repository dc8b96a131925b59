package io.github.holdfast.redis;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.support.Answers;
import io.github.holdfast.support.Deadline;
import io.github.holdfast.support.Polling;
import io.github.holdfast.support.RedisRefusal;

/**
 * Locks in several independent Redis masters, of which a majority must grant each lock
 * (the algorithm known as Redlock). A minority may fail. Waiters poll.
 *
 * <p>
 * The epoch is the highest one that the majority counts, and is raised on a majority
 * before the lock is used.
 *
 * <p>
 * Two holders are still possible: when nodes lose their data while a lock is held, when
 * their clocks jump, or when a holder is paused for longer than its lease. Only the check
 * at the commit keeps the second from losing the updates of the first.
 *
 * @since 0.1.0
 */
public final class RedisQuorumLockBackend implements LockBackend, AutoCloseable {

	private static final Polling POLLING = new Polling(Duration.ofMillis(10), Duration.ofMillis(200));

	private final List<RedisLocks> nodes;

	private final AtomicLong attempts = new AtomicLong();

	/**
	 * Create a backend.
	 * @param nodes the connections to all nodes
	 */
	public RedisQuorumLockBackend(RedisQuorumNodes nodes) {
		this.nodes = nodes.locks(RedisLockBackend.COUNTER_RETENTION);
	}

	@Override
	public @Nullable LockLease acquire(LockRequest request) throws InterruptedException {
		return POLLING.until(request.waitTime(), (deadline) -> attempt(request, deadline));
	}

	private @Nullable LockLease attempt(LockRequest request, Deadline deadline) throws InterruptedException {
		boolean last = deadline.hasPassed();
		Deadline lease = Deadline.ofLease(request.leaseTime());
		QuorumGrant grant = new QuorumGrant(this.nodes, withNewOwner(request));
		OptionalLong epoch;
		try {
			epoch = grant.acquire(deadline);
		}
		catch (InterruptedException ex) {
			giveBack(grant, request, RedisLocks.MIN_TIMEOUT);
			throw ex;
		}
		catch (RuntimeException ex) {
			giveBack(grant, request, Duration.ZERO);
			if (!last && RedisRefusal.isTemporary(ex)) {
				return null;
			}
			throw ex;
		}
		if (epoch.isPresent() && !lease.hasPassed()) {
			return new RedisLockLease(request, grant, epoch.getAsLong(), lease);
		}
		giveBack(grant, request, Duration.ZERO);
		if (epoch.isPresent()) {
			throw new LockBackendException(request.key(),
					"could not be acquired, the Redis nodes answered only when its lease was over", null);
		}
		return null;
	}

	private LockRequest withNewOwner(LockRequest request) {
		return new LockRequest(request.key(), request.name(), request.mode(), request.fair(), request.waitTime(),
				request.leaseTime(), request.owner() + "." + this.attempts.incrementAndGet(), request.holder(),
				request.minEpoch());
	}

	private static void giveBack(QuorumGrant grant, LockRequest request, Duration timeout) {
		try {
			Answers.awaitUninterruptibly(grant.release(Deadline.after(request.leaseTime())), timeout);
		}
		catch (ExecutionException | TimeoutException ex) {
			// It is given back as soon as the nodes can be reached, or runs out by itself
		}
	}

	@Override
	public List<CompletionStage<Boolean>> renewAll(List<LockLease> leases, Duration leaseTime) {
		return RedisLockLease.renewAll(leases, leaseTime,
				(pending) -> pending.stream().map((lease) -> lease.grant().startRenewal(leaseTime)).toList());
	}

	@Override
	public int renewedTogether() {
		return RedisLockBackend.RENEWED_TOGETHER;
	}

	/**
	 * What one node says, whose epoch and lease are not those of the majority.
	 */
	@Override
	public @Nullable LockHolder holder(String key) {
		return this.nodes.stream()
			.map((node) -> node.holder(key))
			.filter(Objects::nonNull)
			.findFirst()
			.map((holder) -> new LockHolder(holder.owner(), holder.text(), null, null, null))
			.orElse(null);
	}

	@Override
	public Set<Capability> capabilities() {
		return Set.of(Capability.RELEASE_NOT_AWAITED);
	}

	@Override
	public Duration noticeTime() {
		return POLLING.longest();
	}

	/**
	 * Stops what is still tried again because nodes have failed.
	 */
	@Override
	public void close() {
		this.nodes.forEach(RedisLocks::close);
	}

	@Override
	public String name() {
		return "redis";
	}

	@Override
	public String toString() {
		return "backend 'redis'";
	}

}
