package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.store.Answers;
import io.github.holdfast.store.Deadline;
import io.github.holdfast.store.Polling;

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
 * @since 0.2.0
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

	/**
	 * Names the owner of the request instead of that of the attempt.
	 */
	private static LockHolder ofRequest(LockHolder holder) {
		String attempt = String.valueOf(holder.owner());
		int end = attempt.lastIndexOf('.');
		return new LockHolder((end > 0) ? attempt.substring(0, end) : attempt, holder.text(), null, holder.expires(),
				holder.epoch());
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
	public @Nullable LockHolder holder(String key) {
		LockHolder holder = find(key);
		return (holder != null) ? ofRequest(holder) : null;
	}

	/**
	 * Whom a majority names. One that only some nodes name, as it is on its way or others
	 * do not answer, has no epoch and no end.
	 */
	private @Nullable LockHolder find(String key) {
		List<LockHolder> named = answers(key, "looked up", (node) -> node.holder(key)).stream()
			.flatMap(Optional::stream)
			.toList();
		Map<String, List<LockHolder>> owners = named.stream()
			.collect(Collectors.groupingBy((holder) -> String.valueOf(holder.owner())));
		return owners.values()
			.stream()
			.filter((votes) -> votes.size() > this.nodes.size() / 2)
			.findFirst()
			.map(this::holder)
			.orElseGet(() -> named.stream()
				.findFirst()
				.map((one) -> new LockHolder(one.owner(), one.text(), null, null, null))
				.orElse(null));
	}

	/**
	 * The lease ends when too few nodes are left for a majority.
	 */
	private LockHolder holder(List<LockHolder> votes) {
		LockHolder last = votes.stream()
			.sorted(Comparator.comparing(LockHolder::expires, Comparator.nullsFirst(Comparator.reverseOrder())))
			.toList()
			.get(this.nodes.size() / 2);
		return new LockHolder(last.owner(), last.text(), null, last.expires(), epoch(votes));
	}

	/**
	 * What a majority counts. Those that were not waited for may be ahead.
	 */
	private @Nullable Long epoch(List<LockHolder> votes) {
		Map<Long, Long> epochs = votes.stream()
			.map(LockHolder::epoch)
			.filter(Objects::nonNull)
			.collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
		return epochs.entrySet()
			.stream()
			.filter((count) -> count.getValue() > this.nodes.size() / 2)
			.map(Map.Entry::getKey)
			.findFirst()
			.orElse(null);
	}

	@Override
	public Eviction evict(String key, String owner, long epoch) {
		LockHolder holder = find(key);
		if (holder == null || !ofRequest(holder).isOf(owner, epoch)) {
			return Eviction.NOT_HELD;
		}
		String attempt = String.valueOf(holder.owner());
		answers(key, "taken away", (node) -> node.remove(key, attempt));
		return Eviction.EVICTED;
	}

	@Override
	public Status probe(String key) {
		int answered = answers(key, "asked for", (node) -> node.time(key)).size();
		return new Status(answered + " of " + this.nodes.size() + " Redis nodes", null);
	}

	/**
	 * Ask all nodes at the same time.
	 * @return the answers of those that have answered, at least a majority
	 */
	private <T> List<T> answers(String key, String what, Function<RedisLocks, CompletableFuture<T>> question) {
		List<CompletableFuture<T>> asked = this.nodes.stream().map(question).toList();
		List<T> answers = new ArrayList<>(asked.size());
		LockBackendException failure = null;
		for (CompletableFuture<T> answer : asked) {
			try {
				answers.add(RedisLocks.answer(key, what, "a majority of the Redis nodes", answer));
			}
			catch (LockBackendException ex) {
				failure = ex;
			}
		}
		if (failure != null && answers.size() <= this.nodes.size() / 2) {
			throw failure;
		}
		return answers;
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
