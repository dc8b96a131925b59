package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.util.Assert;

import io.github.holdfast.LockHolder;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockRequest.Owner;
import io.github.holdfast.ManageableLockBackend;
import io.github.holdfast.store.Polling;
import io.github.holdfast.store.Polling.Deadline;
import io.github.holdfast.store.redis.RedisAcquisition.RedisLease;

/**
 * Locks in several independent Redis masters. A majority must grant each lock, so a
 * minority may fail. The algorithm is known as Redlock. Waiters poll. Locks are neither
 * shared nor fair.
 *
 * <p>
 * The epoch is the highest epoch of the majority, and a majority must store it before the
 * lock is granted.
 *
 * <p>
 * Two holders are still possible: if nodes lose their data while a lock is held, if their
 * clocks jump, or if a holder pauses for longer than its lease. Only the check at the
 * commit protects the data then.
 */
public final class RedisQuorumLockBackend implements ManageableLockBackend, AutoCloseable {

	private static final String SERVERS = "a majority of the Redis nodes";

	/** The longest time until the next round of a split vote, in milliseconds. */
	private static final long LONGEST_TIE = 20;

	private static final Polling POLLING = new Polling(Duration.ofMillis(10), Duration.ofMillis(200));

	private final QuorumNodes nodes;

	/**
	 * Create a backend with one connection to each node, which is opened at the first
	 * use.
	 * @param settings supplies the credentials, TLS, timeouts and other settings of the
	 * connections
	 * @param nodes an odd number of addresses, at least three: {@code host:port},
	 * {@code redis://} or {@code rediss://}, with their own credentials and database if
	 * needed
	 * @throws io.github.holdfast.LockConfigurationException if the addresses cannot be
	 * used
	 */
	public RedisQuorumLockBackend(RedisConnectionFactory settings, List<String> nodes) {
		this.nodes = new QuorumNodes(settings, nodes);
	}

	@Override
	public @Nullable Lease acquire(LockRequest request) throws InterruptedException {
		return POLLING.until(request.waitTime(), (deadline) -> attempt(request, deadline.hasPassed()));
	}

	/**
	 * Ask all nodes, and again after a random time if several callers share them, so that
	 * none has a majority. Each time the owner is another, so nothing that arrives late
	 * affects the next time. While a majority is not ready and there is time left, the
	 * lock counts as busy.
	 */
	private @Nullable Lease attempt(LockRequest wanted, boolean last) throws InterruptedException {
		Deadline tie = Deadline.after(RedisLocks.MIN_TIMEOUT);
		while (true) {
			LockRequest request = new LockRequest(wanted.key(), wanted.name(), wanted.mode(), false, wanted.waitTime(),
					wanted.leaseTime(), new Owner(wanted.owner().description()));
			long sentAt = System.nanoTime();
			List<CompletableFuture<List<Object>>> answers = all(
					(node) -> node.acquire(request, false, RedisLocks.MIN_TIMEOUT));
			try {
				if (Votes.count(answers, (answer) -> RedisLocks.number(answer, 0) > 0).get()) {
					long epoch = answered(answers).mapToLong((it) -> RedisLocks.number(it, 0)).max().orElseThrow();
					if (Votes.count(all((node) -> node.renew(request, request.leaseTime(), epoch)), RedisLocks::isYes)
						.get()) {
						return lease(request, epoch, sentAt);
					}
				}
				leave(request, answers);
				if (!isSplit(answers) || tie.hasPassed()) {
					return null;
				}
				TimeUnit.MILLISECONDS.sleep(ThreadLocalRandom.current().nextLong(1, LONGEST_TIE));
			}
			catch (InterruptedException ex) {
				RedisLocks.awaitQuietly(leave(request, answers));
				throw ex;
			}
			catch (ExecutionException ex) {
				leave(request, answers);
				if (!last && RedisLocks.isTemporary(ex)) {
					return null;
				}
				throw RedisLocks.failure(request.key(), "acquired", SERVERS, ex);
			}
		}
	}

	/**
	 * Whether no other caller has a majority.
	 */
	private boolean isSplit(List<CompletableFuture<List<Object>>> answers) {
		return answered(answers).filter((answer) -> RedisLocks.number(answer, 0) == 0)
			.map((answer) -> RedisDriver.text(answer.get(3)).replaceFirst("^[0-9]+", ""))
			.collect(Collectors.groupingBy(Function.identity(), Collectors.counting()))
			.values()
			.stream()
			.noneMatch((votes) -> votes > this.nodes.locks().size() / 2);
	}

	private RedisLease lease(LockRequest request, long epoch, long sentAt) {
		return new RedisLease(epoch, sentAt,
				(leaseTime) -> vote(request, "renewed", (node) -> node.renew(request, leaseTime, epoch)),
				() -> vote(request, "released", (node) -> node.release(request)), new AtomicReference<>());
	}

	private CompletableFuture<Boolean> vote(LockRequest request, String what,
			Function<RedisLocks, CompletableFuture<List<Object>>> question) {
		List<CompletableFuture<List<Object>>> answers = all(question);
		return RedisLocks.answer(Votes.count(answers, RedisLocks::isYes).thenApply((yes) -> {
			long no = answered(answers).filter((answer) -> !RedisLocks.isYes(answer)).count();
			// A node without an answer may still have the lock
			Assert.state(yes || no > answers.size() / 2, "No majority has answered");
			return yes;
		}), request.key(), what, () -> SERVERS);
	}

	/**
	 * Take an attempt back from all nodes that may have granted it.
	 */
	private CompletableFuture<Void> leave(LockRequest request, List<CompletableFuture<List<Object>>> answers) {
		return CompletableFuture.allOf(IntStream.range(0, answers.size())
			.mapToObj((index) -> answers.get(index)
				.handle((answer, ex) -> ex == null && RedisLocks.number(answer, 0) == 0)
				.thenCompose((refused) -> refused ? CompletableFuture.completedFuture(null)
						: this.nodes.locks().get(index).leave(request, Deadline.PASSED)))
			.toArray(CompletableFuture<?>[]::new));
	}

	private List<CompletableFuture<List<Object>>> all(Function<RedisLocks, CompletableFuture<List<Object>>> question) {
		return this.nodes.locks().stream().map(question).toList();
	}

	private static Stream<List<Object>> answered(List<CompletableFuture<List<Object>>> answers) {
		return answers.stream()
			.filter((answer) -> answer.isDone() && !answer.isCompletedExceptionally())
			.map(CompletableFuture::join);
	}

	/**
	 * The last holder that a node reports, if a majority has any.
	 */
	@Override
	public @Nullable LockHolder holder(String key) {
		List<LockHolder> holders = ask(LockScript.HOLDER, key, "looked up").stream()
			.map(RedisLockBackend::holder)
			.filter(Objects::nonNull)
			.sorted(Comparator.comparing((holder) -> Objects.requireNonNullElse(holder.epoch(), 0L)))
			.toList();
		return (holders.size() > this.nodes.locks().size() / 2) ? holders.get(holders.size() - 1) : null;
	}

	@Override
	public boolean forceRelease(String key) {
		return ask(LockScript.FORCE, key, "released by force").stream().filter(RedisLocks::isYes).count() > 0;
	}

	@Override
	public Status ping() {
		int answers = ask(LockScript.PING, "holdfast:ping", "checked").size();
		return new Status(answers + " of " + this.nodes.locks().size() + " Redis nodes", null);
	}

	/**
	 * Ask all nodes, and wait for all answers.
	 * @return the answers, at least a majority
	 */
	private List<List<Object>> ask(LockScript script, String key, String what) {
		List<CompletableFuture<List<Object>>> asked = all((node) -> node.ask(script, key));
		RedisLocks.awaitQuietly(CompletableFuture.allOf(asked.toArray(CompletableFuture<?>[]::new)));
		RedisLocks.await(Votes.count(asked, (answer) -> true), key, what, SERVERS);
		return answered(asked).toList();
	}

	@Override
	public String name() {
		return "redis";
	}

	@Override
	public void close() {
		this.nodes.close();
	}

}
