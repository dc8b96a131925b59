package io.github.holdfast.store.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.util.Assert;

import io.github.holdfast.LockHolder;
import io.github.holdfast.LockRequest;
import io.github.holdfast.store.AnswerTimeout;
import io.github.holdfast.store.Answers;
import io.github.holdfast.store.Deadline;
import io.github.holdfast.store.Releases;

/**
 * What Redis is asked about locks, and what its answers mean.
 */
final class RedisLocks implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(RedisLocks.class);

	/** How long an answer is waited for at least, whatever the wait time of a call is. */
	static final Duration MIN_TIMEOUT = Duration.ofSeconds(2);

	private static final Duration RELEASE_TIMEOUT = Duration.ofSeconds(5);

	/** For how long a fair waiter that is no longer heard of keeps its place. */
	static final Duration TICKET_TIME = Duration.ofSeconds(5);

	/** Above, the numbers of Lua are not exact. */
	private static final long MAX_EPOCH = 1L << 53;

	/** Of those who were told, if that is not known. */
	private static final Long MAYBE_ONE = 1L;

	private final Supplier<RedisDriver> driver;

	private final Duration counterRetention;

	private final AnswerTimeout timeout = new AnswerTimeout(RELEASE_TIMEOUT);

	private final AnswerTimeout questions = new AnswerTimeout(MIN_TIMEOUT);

	private final Releases releases = new Releases();

	/** Whether scripts may not tell those who wait, as one of them was refused. */
	private volatile boolean publishRefused;

	RedisLocks(Supplier<RedisDriver> driver, Duration counterRetention) {
		this.driver = driver;
		this.counterRetention = counterRetention;
	}

	RedisDriver driver() {
		return this.driver.get();
	}

	/**
	 * Ask for all locks or none.
	 */
	CompletableFuture<List<Object>> acquire(List<LockRequest> requests) {
		byte[][] keys = requests.stream()
			.flatMap((request) -> Stream.of(LockKey.of(request.key()).keys()))
			.toArray(byte[][]::new);
		return driver().run(LockScript.ACQUIRE, keys, args(requests, List.of()));
	}

	/**
	 * Ask for a lock when all who came earlier have had it.
	 */
	CompletableFuture<List<Object>> acquireInTurn(LockRequest request) {
		return driver().run(LockScript.ACQUIRE_IN_TURN, LockKey.of(request.key()).keysOfQueue(),
				args(List.of(request), List.of(millis(TICKET_TIME))));
	}

	/**
	 * Ask to share a lock, which nobody does before those who wait in the queue.
	 */
	CompletableFuture<List<Object>> acquireShared(LockRequest request) {
		return driver().run(LockScript.ACQUIRE_SHARED, LockKey.of(request.key()).keysOfSharing(),
				args(List.of(request), request.fair() ? List.of(millis(TICKET_TIME)) : List.of()));
	}

	/**
	 * Give up a place in the queue.
	 */
	CompletableFuture<List<Object>> leave(LockRequest request) {
		LockKey key = LockKey.of(request.key());
		return this.timeout.limit(tell(LockScript.LEAVE, key, key.keysOfQueue(), request.owner()));
	}

	private byte[][] args(List<LockRequest> requests, List<byte[]> more) {
		Duration leaseTime = requests.get(0).leaseTime();
		List<byte[]> args = new ArrayList<>(2 + 3 * requests.size() + more.size());
		args.add(millis(leaseTime));
		args.add(millis(leaseTime.plus(this.counterRetention)));
		for (LockRequest request : requests) {
			Assert.isTrue(request.minEpoch() < MAX_EPOCH, "Minimum epoch must be less than 2^53");
			args.add(LockKey.bytes(request.owner()));
			args.add(LockKey.bytes(request.holder()));
			args.add(LockKey.bytes(Long.toString(request.minEpoch())));
		}
		args.addAll(more);
		return args.toArray(byte[][]::new);
	}

	/**
	 * The name of the channel in Redis, which a script is not given by itself.
	 */
	private byte[] channel(LockKey key) {
		return LockKey.bytes(driver().nameOf(key.channel()));
	}

	Grant grant(LockRequest request) {
		return new RedisGrant(this, request);
	}

	CompletableFuture<List<Object>> renew(LockRequest request, Duration leaseTime) {
		LockKey key = LockKey.of(request.key());
		boolean shared = isShared(request);
		return driver().run(shared ? LockScript.RENEW_SHARED : LockScript.RENEW,
				shared ? key.keysOfSharing() : key.keys(),
				new byte[][] { LockKey.bytes(request.owner()), millis(leaseTime),
						millis(leaseTime.plus(this.counterRetention)) },
				Deadline.after(Answers.renewalTimeout(leaseTime, Duration.ZERO)));
	}

	/**
	 * Give a lock back, again and again if Redis fails. The answer may be one that
	 * {@link #isYes} and {@link #isHeard} understand.
	 * @param end when the lock has run out at the latest
	 */
	CompletableFuture<List<Object>> release(LockRequest request, Deadline end) {
		return this.releases.run(request.key(), end, () -> release(request));
	}

	private CompletableFuture<List<Object>> release(LockRequest request) {
		LockKey key = LockKey.of(request.key());
		CompletableFuture<List<Object>> released = new CompletableFuture<>();
		CompletableFuture<List<Object>> sent = isShared(request)
				? tell(LockScript.RELEASE_SHARED, key, key.keysOfSharing(), request.owner())
				: tell(LockScript.RELEASE, key, key.keys(), request.owner());
		this.timeout.limit(sent).whenComplete((answer, ex) -> {
			if (ex != null) {
				released.completeExceptionally(Answers.failure(request.key(), "released", driver().server(), ex));
			}
			else {
				released.complete(answer);
			}
		});
		return released;
	}

	/**
	 * Run a script that tells those who wait. Where a script may not, they are told by a
	 * command of its own.
	 */
	private CompletableFuture<List<Object>> tell(LockScript script, LockKey key, byte[][] keys, String owner) {
		byte[][] args = { LockKey.bytes(owner), channel(key) };
		if (this.publishRefused) {
			return tellBeside(script, key, keys, args);
		}
		return driver().run(script, keys, args)
			.exceptionallyCompose((failure) -> RedisRefusal.isFinal(failure)
					? afterRefusal(failure, tellBeside(script, key, keys, args))
					: CompletableFuture.failedFuture(failure));
	}

	/**
	 * The refused script may have done its work, or a part of it, which is the same when
	 * it is done again.
	 */
	private CompletableFuture<List<Object>> afterRefusal(Throwable refusal, CompletableFuture<List<Object>> beside) {
		return beside.handle((answer, failure) -> {
			if (failure != null) {
				throw new CompletionException(Answers.cause(refusal));
			}
			if (!this.publishRefused) {
				this.publishRefused = true;
				logger.info("{} refuses PUBLISH in scripts, so those who wait for a lock are told by a command "
						+ "beside the script: {}", driver().server(), Answers.cause(refusal).getMessage());
			}
			return answer;
		});
	}

	private CompletableFuture<List<Object>> tellBeside(LockScript script, LockKey key, byte[][] keys, byte[][] args) {
		CompletableFuture<List<Object>> done = driver().run(script.untold(), keys, args);
		CompletionStage<?> before = (this.publishRefused && driver().keepsOrder())
				? CompletableFuture.completedStage(null) : done;
		CompletionStage<Long> told = before.thenCompose((nothing) -> driver().publish(key.channel()));
		if (this.publishRefused) {
			told = told.exceptionally((failure) -> MAYBE_ONE);
		}
		return done.thenCombine(told,
				(answer, listeners) -> isYes(answer) ? List.of(answer.get(0), listeners) : answer);
	}

	private static boolean isShared(LockRequest request) {
		return request.mode() == LockRequest.Mode.SHARED;
	}

	/**
	 * Tell those who wait in the queue that it has moved, without waiting for that.
	 */
	void tellQueue(LockRequest request) {
		CompletableFuture.completedStage(request.key())
			.thenCompose((key) -> driver().publish(LockKey.of(key).channel()));
	}

	/**
	 * Whether anybody listens for the release of a lock.
	 */
	CompletionStage<Boolean> isListenedTo(LockRequest request) {
		return driver().isListenedTo(LockKey.of(request.key()).channel());
	}

	/**
	 * Whether anybody was told of a release, or may have been told.
	 */
	boolean isHeard(List<Object> released) {
		return released.size() < 2 || number(released, 1) > 0 || !driver().knowsListeners();
	}

	/**
	 * Who holds a lock, or nobody.
	 */
	CompletableFuture<Optional<LockHolder>> holder(String key) {
		return this.questions.limit(driver().run(LockScript.HOLDER, LockKey.of(key).keys(), new byte[0][]))
			.thenApply((holder) -> (holder.get(0) instanceof byte[] owner) ? Optional.of(holder(text(owner), holder))
					: Optional.empty());
	}

	/**
	 * Free a lock of one owner, by one attempt.
	 * @return {@code false} if it was another one's
	 */
	CompletableFuture<Boolean> remove(String key, String owner) {
		LockKey lock = LockKey.of(key);
		return this.questions.limit(tell(LockScript.RELEASE, lock, lock.keys(), owner)).thenApply(RedisLocks::isYes);
	}

	/**
	 * Ask for the time, of the server that has a lock.
	 */
	CompletableFuture<Instant> time(String key) {
		byte[][] keys = { LockKey.bytes(LockKey.of(key).lock()) };
		return this.questions.limit(driver().run(LockScript.PROBE, keys, new byte[0][]))
			.thenApply(
					(time) -> Instant.ofEpochSecond(number(time, 0), TimeUnit.MICROSECONDS.toNanos(number(time, 1))));
	}

	/**
	 * Wait for the answer to a question.
	 */
	static <T> T answer(String key, String what, String server, CompletableFuture<T> answer) {
		try {
			return Answers.awaitUninterruptibly(answer, MIN_TIMEOUT.multipliedBy(2));
		}
		catch (ExecutionException | TimeoutException ex) {
			throw Answers.failure(key, what, server, ex);
		}
	}

	private static LockHolder holder(String owner, List<Object> answer) {
		long remaining = number(answer, 3);
		return new LockHolder(owner,
				"held by " + text((byte[]) answer.get(1)) + ", whose lease is renewed or ends in " + remaining + " ms",
				null, Instant.ofEpochMilli(number(answer, 4) + remaining), number(answer, 2));
	}

	private static String text(byte[] bytes) {
		return new String(bytes, StandardCharsets.UTF_8);
	}

	static Duration renewalTimeout(Duration leaseTime) {
		return Answers.renewalTimeout(leaseTime, MIN_TIMEOUT);
	}

	static Duration atLeastMinimum(Duration timeout) {
		return (timeout.compareTo(MIN_TIMEOUT) > 0) ? timeout : MIN_TIMEOUT;
	}

	/**
	 * Whether a lock was not granted because it is held shared.
	 */
	static boolean isHeldShared(List<Object> refusal) {
		return text((byte[]) refusal.get(2)).equals(LockScript.SHARED);
	}

	static boolean isYes(List<Object> answer) {
		return number(answer, 0) == 1;
	}

	static long number(List<Object> answer, int index) {
		return ((Number) answer.get(index)).longValue();
	}

	/**
	 * Stop what is still tried again because Redis has failed.
	 */
	@Override
	public void close() {
		this.releases.close();
	}

	private static byte[] millis(Duration duration) {
		return LockKey.bytes(Long.toString(RedisLeaseTime.millis(duration)));
	}

}
