package io.github.holdfast.lab.strategy;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.ThreadLocalRandom;

import org.jspecify.annotations.Nullable;

/**
 * An order, and what has happened to it so far. Each happening is noted in microseconds
 * since 1970, so that those of several nodes of one machine can be compared.
 */
public final class Order {

	private static final ThreadLocal<@Nullable Order> CURRENT = new ThreadLocal<>();

	private final int number;

	private final String sku;

	private final int quantity;

	private final Duration work;

	private final Instant giveUpAt;

	private final long start = now();

	private @Nullable Long acquired;

	private @Nullable Long lastBegin;

	private @Nullable Long begin;

	private @Nullable Long readAt;

	private @Nullable Long writeAt;

	private @Nullable Long commit;

	private @Nullable Long released;

	private @Nullable Stock read;

	private @Nullable Long wrote;

	public Order(int number, String sku, int quantity, Duration work, Duration waitTime) {
		this.number = number;
		this.sku = sku;
		this.quantity = quantity;
		this.work = work;
		this.giveUpAt = Instant.now().plus(waitTime);
	}

	/**
	 * The order that this thread is working on.
	 * @return the order, or {@code null} if it works on none
	 */
	public static @Nullable Order current() {
		return CURRENT.get();
	}

	/**
	 * Lets a strategy sell it.
	 * @param strategy the strategy
	 * @throws Exception what that threw
	 */
	public boolean sellBy(Strategy strategy) throws Exception {
		CURRENT.set(this);
		try {
			return strategy.sell(this);
		}
		finally {
			CURRENT.remove();
		}
	}

	public int number() {
		return this.number;
	}

	public String sku() {
		return this.sku;
	}

	public int quantity() {
		return this.quantity;
	}

	/**
	 * Does the work between reading and writing, which takes its time. Anything may
	 * happen to the node meanwhile.
	 */
	public void work() {
		Mishap.happenAt(Mishap.Moment.WORK);
		sleep(this.work.toNanos());
	}

	/**
	 * Waits a little before the next attempt.
	 * @throws BusyException if it has waited long enough
	 */
	public void waitOrGiveUp() {
		if (Instant.now().isAfter(this.giveUpAt)) {
			throw new BusyException("Waited in vain");
		}
		sleep(ThreadLocalRandom.current().nextLong(500_000, 5_000_000));
	}

	/**
	 * How long it still waits for others.
	 */
	public Duration remainingWait() {
		Duration remaining = Duration.between(Instant.now(), this.giveUpAt);
		return remaining.isNegative() ? Duration.ZERO : remaining;
	}

	/**
	 * Waits as long as it may, whatever happens.
	 */
	void waitInVain() {
		sleep(remainingWait().toNanos());
	}

	private static void sleep(long nanos) {
		try {
			Thread.sleep(Duration.ofNanos(nanos).toMillis(), (int) (nanos % 1_000_000));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new BusyException("Interrupted");
		}
	}

	/** Notes that the lock is held. */
	public void acquired() {
		this.acquired = now();
	}

	/**
	 * Notes that a transaction has begun: the order's own, if it then reads or writes the
	 * stock.
	 */
	public void begun() {
		this.lastBegin = now();
	}

	void hasRead(Stock stock) {
		this.begin = this.lastBegin;
		this.readAt = now();
		this.read = stock;
		this.commit = null;
	}

	void hasWritten(long available) {
		this.begin = this.lastBegin;
		this.writeAt = now();
		this.wrote = available;
	}

	/**
	 * Called when its transaction is about to be committed. Anything may happen to the
	 * node then, too.
	 */
	public void committing() {
		if (this.writeAt != null) {
			Mishap.happenAt(Mishap.Moment.COMMIT);
		}
	}

	/** Notes that a transaction was committed, of which the first one is its own. */
	public void committed() {
		if (this.commit == null && (this.readAt != null || this.writeAt != null)) {
			this.commit = now();
		}
	}

	/**
	 * Called when a lock is about to be given back. Anything may happen to the node then,
	 * too.
	 */
	public void releasing() {
		Mishap.happenAt(Mishap.Moment.RELEASE);
	}

	/** Notes that the lock was given back. */
	public void released() {
		this.released = now();
	}

	@Nullable Stock read() {
		return this.read;
	}

	/**
	 * What has happened to it.
	 */
	public Times times() {
		return new Times(this.start, this.acquired, (this.begin != null) ? this.begin : this.lastBegin, this.readAt,
				this.writeAt, this.commit, this.released, now());
	}

	/**
	 * The stock that it has read last.
	 * @return how many pieces, or {@code null} if it has read none
	 */
	public @Nullable Long readAvailable() {
		return (this.read != null) ? this.read.available() : null;
	}

	/**
	 * The number of the last change of the stock that it has read.
	 * @return the number, or {@code null} if it has read no stock
	 */
	public @Nullable Long readChanges() {
		return (this.read != null) ? this.read.changes() : null;
	}

	/**
	 * The stock that it has left behind.
	 * @return how many pieces, or {@code null} if it has written none
	 */
	public @Nullable Long wroteAvailable() {
		return this.wrote;
	}

	private static long now() {
		return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
	}

	/**
	 * When something happened to an order; {@code null} if it did not.
	 *
	 * @param start when it arrived
	 * @param acquired when its lock was acquired
	 * @param begin when its transaction began
	 * @param readAt when it had read the stock
	 * @param writeAt when it had written the stock
	 * @param commit when its transaction was committed
	 * @param released when its lock was given back
	 * @param end when it was answered
	 */
	public record Times(long start, @Nullable Long acquired, @Nullable Long begin, @Nullable Long readAt,
			@Nullable Long writeAt, @Nullable Long commit, @Nullable Long released, long end) {
	}

}
