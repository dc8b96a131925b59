package io.github.holdfast.lab.strategy;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * An order, and what has happened to it so far. Each happening is noted in microseconds
 * since the origin of its run, so that those of several nodes can be compared.
 */
public final class Order {

	private static final ThreadLocal<@Nullable Order> CURRENT = new ThreadLocal<>();

	private final Request request;

	private final Instant giveUpAt;

	private final long start;

	private @Nullable Long acquired;

	private @Nullable Long lastBegin;

	private @Nullable Long begin;

	private @Nullable Long readAt;

	private @Nullable Long writeAt;

	private @Nullable Long commit;

	private @Nullable Long released;

	private Shelf.@Nullable Stock read;

	private @Nullable Long wrote;

	private Runnable afterwards = () -> {
	};

	public Order(Request request) {
		this.request = request;
		this.start = now();
		this.giveUpAt = Instant.now().plusMillis(request.waitMs());
	}

	/** The order that this thread is working on. */
	static @Nullable Order current() {
		return CURRENT.get();
	}

	/** Lets a strategy sell it. */
	boolean sellBy(Callable<Boolean> strategy) throws Exception {
		CURRENT.set(this);
		try {
			return strategy.call();
		}
		finally {
			CURRENT.remove();
			this.afterwards.run();
		}
	}

	/** Lets something be tidied up when the strategy has ended. */
	void afterwards(Runnable action) {
		this.afterwards = action;
	}

	/** Waits for a lock, and sells as long as it is held. */
	boolean sellLocked(Supplier<@Nullable Boolean> lock, StockService stock, Runnable unlock) {
		while (!Boolean.TRUE.equals(lock.get())) {
			waitOrGiveUp();
		}
		acquired();
		try {
			return stock.deduct(this);
		}
		finally {
			unlock.run();
			released();
		}
	}

	int number() {
		return this.request.number();
	}

	public String sku() {
		return this.request.sku();
	}

	/** The name of the lock. */
	String key() {
		return "stock:" + sku();
	}

	int quantity() {
		return this.request.quantity();
	}

	/** Takes its time between reading and writing. Anything may happen meanwhile. */
	void work() {
		Mishap.happenAt(Mishap.Moment.WORK);
		sleep(Duration.ofMillis(this.request.workMs()).toNanos());
	}

	/** Waits a little before the next attempt. */
	void waitOrGiveUp() {
		if (Instant.now().isAfter(this.giveUpAt)) {
			throw new BusyException("Waited in vain");
		}
		sleep(ThreadLocalRandom.current().nextLong(500_000, 5_000_000));
	}

	Duration remainingWait() {
		Duration remaining = Duration.between(Instant.now(), this.giveUpAt);
		return remaining.isNegative() ? Duration.ZERO : remaining;
	}

	/** Waits as long as it may, whatever happens. */
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

	void acquired() {
		this.acquired = now();
	}

	/** A transaction has begun: its own, if it then reads or writes the stock. */
	void begun() {
		this.lastBegin = now();
	}

	void hasRead(Shelf.Stock stock) {
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

	/** Its commit is about to be sent. Anything may happen to the node then. */
	void committing() {
		if (this.writeAt != null) {
			Mishap.happenAt(Mishap.Moment.COMMIT);
		}
	}

	/** Notes that a transaction was committed, of which the first one is its own. */
	void committed() {
		if (this.commit == null && (this.readAt != null || this.writeAt != null)) {
			this.commit = now();
		}
	}

	/** Its lock is about to be given back. Anything may happen to the node then. */
	void releasing() {
		Mishap.happenAt(Mishap.Moment.RELEASE);
	}

	void released() {
		this.released = now();
	}

	Shelf.@Nullable Stock read() {
		return this.read;
	}

	/** What has become of it. */
	OrderView view(int node, OrderView.Outcome outcome, boolean starved, @Nullable Long overtakenBy,
			@Nullable String message) {
		String thread = Thread.currentThread().getName();
		return new OrderView(number(), this.request.strategy(), node,
				// Tomcat's names begin with the address
				thread.substring(Math.max(0, thread.indexOf("exec-"))), outcome, starved,
				(this.read != null) ? this.read.available() : null, this.wrote,
				(this.read != null) ? this.read.changes() : null, null, overtakenBy, this.start, this.acquired,
				(this.begin != null) ? this.begin : this.lastBegin, this.readAt, this.writeAt, this.commit,
				this.released, now(), message);
	}

	private long now() {
		return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now()) - this.request.origin();
	}

	/**
	 * An order, as the lab sends it to a node.
	 *
	 * @param origin from when on times are counted, in microseconds since 1970
	 */
	public record Request(String strategy, int number, String sku, int quantity, int workMs, int waitMs, long origin) {
	}

}
