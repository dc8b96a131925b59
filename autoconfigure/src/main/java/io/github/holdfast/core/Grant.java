package io.github.holdfast.core;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockException;
import io.github.holdfast.LockListener.Operation;
import io.github.holdfast.LockRequest;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the store gave for one key: the lease, its time, its turn in the local queue and
 * the call that holds it. A grant passes from call to call in this JVM; the store sees
 * one holder. The {@link Watchdog} renews it.
 *
 * <p>
 * Each call is one <em>turn</em>. The fencing token has room for 256 turns.
 */
public final class Grant {

	private static final Logger logger = LoggerFactory.getLogger(Grant.class);

	private static final int MOST_TURNS = 256;

	private static final CompletableFuture<Boolean> DONE = CompletableFuture.completedFuture(true);

	private final LockRequest request;

	private final LockBackend.Lease lease;

	private final Watchdog watchdog;

	private final long start = System.nanoTime();

	private volatile Turn turn = new Turn(null, null, -1);

	private volatile long end;

	private volatile State state = State.HELD;

	private volatile boolean installed;

	private volatile boolean claimed;

	private CompletableFuture<Boolean> renewal = DONE;

	private volatile long renewAt;

	private volatile long releaseAt;

	Grant(LockRequest request, LockBackend.Lease lease, Watchdog watchdog) {
		this.request = request;
		this.lease = lease;
		this.watchdog = watchdog;
		renewed(lease.sentAt(), request.leaseTime());
	}

	/**
	 * The lease of the store.
	 * @return the lease
	 */
	public LockBackend.Lease lease() {
		return this.lease;
	}

	/**
	 * The request that the store granted.
	 * @return the request of the first call
	 */
	public LockRequest request() {
		return this.request;
	}

	/**
	 * Whether this process can still prove that it holds the lock. Does no I/O.
	 * @return {@code false} if the lease has run out or is lost
	 */
	public boolean isValid() {
		return this.state == State.HELD && this.lease.isAlive()
				&& (!this.lease.expires() || this.claimed || System.nanoTime() - this.end < 0);
	}

	/**
	 * The time for which this process can prove that it holds the lock.
	 * @return the time, or {@code null} if the lock does not expire
	 */
	public @Nullable Duration remaining() {
		return !this.lease.expires() ? null
				: Duration.ofNanos(isValid() ? Math.max(0, this.end - System.nanoTime()) : 0);
	}

	/**
	 * The fencing token of the current turn. Tokens rise strictly with each turn.
	 * @return the token
	 */
	public long fencingToken() {
		return (this.lease.epoch() << 8) + Math.max(0, this.turn.number);
	}

	/**
	 * Whether the row of this grant names it, by a transaction that has been committed.
	 * @return {@code false} if no transaction has written it yet
	 */
	public boolean isInstalled() {
		return this.installed;
	}

	/**
	 * Notes that the row of this grant names it.
	 */
	public void installed() {
		this.installed = true;
	}

	/**
	 * The lease time of the next renewal: the lease time of the holder, or what is left
	 * of its maximum hold time.
	 * @return the time, at least 1 ms
	 */
	public Duration renewalTime() {
		return Objects.requireNonNullElse(timeToRenew(), Duration.ofMillis(1));
	}

	/**
	 * Pauses the renewals, because a transaction of the holder is about to lock the row.
	 * Waits for a renewal that is under way, for a second at most.
	 */
	public void beginClaim() {
		CompletableFuture<Boolean> underWay;
		synchronized (this) {
			this.claimed = true;
			underWay = this.renewal;
		}
		try {
			underWay.get(1, TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (ExecutionException | TimeoutException ex) {
			// It waits for a connection; the row is free until it has one
		}
	}

	/**
	 * Continues the renewals, because that transaction has ended.
	 */
	public void endClaim() {
		this.claimed = false;
	}

	/**
	 * Notes that the lease was extended.
	 * @param sentAt the {@link System#nanoTime()} from before the renewal was sent
	 * @param leaseTime the lease time that was sent
	 */
	public void renewed(long sentAt, Duration leaseTime) {
		long nanos = leaseTime.toNanos();
		this.end = sentAt + nanos - nanos / 100;
		this.renewAt = sentAt + nanos / 3;
	}

	// The holder

	/**
	 * Lets a call have the next turn.
	 */
	void takenBy(LockCall call, LocalQueue.@Nullable Turn queue) {
		this.turn = new Turn(call, queue, this.turn.number + 1);
	}

	private void leave() {
		this.turn = new Turn(null, this.turn.queue, this.turn.number);
	}

	/**
	 * Whether a grant that another call has left may be used for a call.
	 */
	boolean serves(LockSettings settings) {
		Duration leaseTime = settings.times().leaseTimeOrDefault();
		return leaseTime.equals(this.request.leaseTime()) && isFreshFor(leaseTime);
	}

	private boolean isFreshFor(Duration leaseTime) {
		return isValid() && (!this.lease.expires() || this.end - System.nanoTime() > leaseTime.toNanos() / 2);
	}

	/**
	 * Leaves this grant to the next thread of this JVM.
	 * @return {@code false} if no thread waits or it has been kept for long enough
	 */
	boolean handOver(long mostNanos) {
		LocalQueue.Turn queue = this.turn.queue;
		if (queue == null || mostNanos == 0 || !queue.isWaitedFor()) {
			return false;
		}
		long held = System.nanoTime() - this.start;
		if (held > mostNanos || this.turn.number + 1 >= MOST_TURNS) {
			if (this.lease.expires()) {
				queue.restAfter(held);
			}
			return false;
		}
		synchronized (this) {
			if (!this.renewal.isDone() || this.claimed || !isFreshFor(this.request.leaseTime())) {
				return false;
			}
		}
		leave();
		return queue.leaveTo(this);
	}

	/**
	 * Releases a lock that no call uses, and waits for the answer.
	 * @param cause what is thrown anyway, or {@code null}
	 */
	void giveBack(@Nullable Throwable cause) {
		boolean interrupted = Thread.interrupted();
		try {
			join(release());
		}
		catch (RuntimeException | Error ex) {
			if (cause == null) {
				throw ex;
			}
			cause.addSuppressed(ex);
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	/**
	 * Lets the next thread of this JVM ask the store.
	 */
	void exitQueue() {
		LocalQueue.Turn queue = this.turn.queue;
		if (queue != null) {
			queue.exit();
		}
	}

	/**
	 * Keeps the lock for a while after its call.
	 * @return {@code false} if it is lost
	 */
	boolean keepFor(Duration rest) {
		// A renewal that the store gets later would make the lease shorter
		beginClaim();
		long until = System.nanoTime() + rest.toNanos();
		try {
			return !this.lease.expires()
					|| join(this.renewal.thenCompose((done) -> attempt(() -> this.lease.renew(rest))));
		}
		finally {
			// Not earlier: a release before the answer would look like a loss
			keepUntil(until);
		}
	}

	/**
	 * Keeps the lock until its lease has run out, or for its lease time.
	 */
	void keepUntilRunOut() {
		keepUntil(this.lease.expires() ? this.end : System.nanoTime() + this.request.leaseTime().toNanos());
	}

	private void keepUntil(long time) {
		this.releaseAt = time;
		leave();
		exitQueue();
		this.watchdog.watch(this);
	}

	/**
	 * Releases the lock. The next thread of this JVM may ask when the store has answered.
	 * @return {@code false} if the lock was lost
	 */
	CompletionStage<Boolean> release() {
		end(State.RELEASED);
		leave();
		LocalQueue.Turn queue = this.turn.queue;
		if (queue != null) {
			queue.releasing();
		}
		CompletionStage<Boolean> answer = (this.state == State.LOST) ? CompletableFuture.completedStage(false)
				: attempt(this.lease::release);
		return answer.whenComplete((released, failure) -> {
			exitQueue();
			if (failure != null) {
				this.releaseAt = System.nanoTime() + Watchdog.RELEASE_AGAIN;
				this.watchdog.watch(this);
			}
			else {
				this.watchdog.forget(this);
			}
		});
	}

	// The watchdog

	/**
	 * Does what is due.
	 * @return when to look again
	 */
	long tick(long now) {
		if (this.releaseAt != 0 && now - this.releaseAt >= 0) {
			releaseLate(now);
		}
		if (now - this.end >= 0 && !this.claimed && this.lease.expires()) {
			exitQueue();
		}
		if (!this.lease.expires() || this.state != State.HELD || this.releaseAt != 0) {
			long end = (now - this.end < 0) ? this.end : now + Watchdog.LONGEST_SLEEP;
			return (this.releaseAt != 0) ? this.releaseAt : end;
		}
		if (now - this.renewAt >= 0) {
			startRenewal(now);
		}
		return (now - this.end < 0 && this.end - this.renewAt < 0) ? this.end : this.renewAt;
	}

	/**
	 * A release that failed is tried again until the lease has run out. The store may
	 * block, and renewals do not wait for it.
	 */
	private void releaseLate(long now) {
		if (this.state == State.RELEASED && now - this.end >= 0) {
			this.watchdog.forget(this);
			return;
		}
		end(State.RELEASED);
		this.releaseAt = 0;
		this.watchdog.later(() -> release().exceptionally((failure) -> {
			logger.debug("Lock {} could not be released, trying again", quoted(), failure);
			return false;
		}));
	}

	private void startRenewal(long now) {
		Duration time = timeToRenew();
		if (time == null && this.renewAt - this.end < 0) {
			logger.warn("The renewal of lock {} ends: it has been held for its maximum hold time", quoted());
		}
		CompletableFuture<Boolean> renewal = new CompletableFuture<>();
		this.renewAt = now + this.request.leaseTime().toNanos() / ((time != null) ? 10 : 1);
		synchronized (this) {
			if (time == null || this.claimed || !this.renewal.isDone()) {
				return;
			}
			this.renewal = renewal;
		}
		// A shorter lease may reach the store although its answer is lost
		this.end = (now + time.toNanos() - this.end < 0) ? now + time.toNanos() : this.end;
		attempt(() -> this.lease.renew(time)).whenComplete((renewed, failure) -> {
			if (Boolean.TRUE.equals(renewed)) {
				renewed(now, time);
			}
			else if (failure == null) {
				lost();
			}
			// Not earlier: a grant that is lost is not handed over
			renewal.complete(true);
			if (failure != null && !this.claimed) {
				notRenewed(cause(failure));
			}
		});
	}

	/**
	 * The time of the next renewal, or {@code null} if the maximum hold time is over.
	 */
	private @Nullable Duration timeToRenew() {
		LockCall holder = this.turn.holder;
		Duration leaseTime = this.request.leaseTime();
		Duration most = (holder != null) ? holder.settings().times().maxHoldTime() : null;
		if (holder == null || most == null) {
			return leaseTime;
		}
		Duration left = most.minus(holder.holdTime());
		if (left.toMillis() < 1) {
			return null;
		}
		return (left.compareTo(leaseTime) < 0) ? left : leaseTime;
	}

	private void notRenewed(Throwable failure) {
		logger.warn("Lock {} could not be renewed, trying again; it is held for another {} ms", quoted(),
				Math.max(0, (this.end - System.nanoTime()) / 1_000_000), failure);
		LockCall holder = this.turn.holder;
		if (holder != null) {
			holder.listeners().backendFailure(Operation.RENEW, failure);
		}
	}

	private void lost() {
		LockCall holder = this.turn.holder;
		if (end(State.LOST) && holder != null) {
			logger.warn("Lock {} was lost: the store has given it to another holder or removed it", quoted());
			holder.lost(this);
		}
		exitQueue();
	}

	/**
	 * The first end counts.
	 */
	private synchronized boolean end(State end) {
		boolean first = this.state == State.HELD;
		this.state = first ? end : this.state;
		return first;
	}

	private String quoted() {
		return LockException.quote(this.request.key());
	}

	/**
	 * Whether the lease time is over, so that another holder may have the lock.
	 */
	boolean isStale() {
		return this.lease.expires() && System.nanoTime() - this.end >= 0;
	}

	/**
	 * The turn of one call. It lasts until the next begins.
	 *
	 * @param holder the call that holds the lock, or {@code null} when it has left
	 * @param queue its place in the queue of this JVM, or {@code null} if it needs none
	 * @param number its number, from 0
	 */
	private record Turn(@Nullable LockCall holder, LocalQueue.@Nullable Turn queue, int number) {
	}

	private enum State {

		HELD, LOST, RELEASED

	}

	static boolean join(CompletionStage<Boolean> answer) {
		try {
			return answer.toCompletableFuture().join();
		}
		catch (CompletionException ex) {
			if (cause(ex) instanceof Error error) {
				throw error;
			}
			throw (cause(ex) instanceof RuntimeException failure) ? failure : ex;
		}
	}

	static Throwable cause(Throwable failure) {
		return (failure instanceof CompletionException && failure.getCause() != null)
				? Objects.requireNonNull(failure.getCause()) : failure;
	}

	private static CompletionStage<Boolean> attempt(Supplier<CompletionStage<Boolean>> question) {
		try {
			return question.get();
		}
		catch (RuntimeException | Error ex) {
			return CompletableFuture.failedStage(ex);
		}
	}

}
