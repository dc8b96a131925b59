package io.github.holdfast.cost;

import java.sql.SQLException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockListener;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.DurableCommits;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.RoundTrips;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.testsupport.WireProtocol;

import static org.awaitility.Awaitility.await;

/**
 * Counts what calls cost: the round trips on the wire, the durable commits in the
 * database. A call is repeated until it has cost the same several times in a row, as
 * there is something that it learns from its first calls, and as a server may do
 * something by itself in between.
 */
final class CallCounter implements AutoCloseable {

	private static final Runnable NOTHING = () -> {
	};

	private static final int TIMES = 3;

	private static final int MOST = 30;

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final CountedBackend backend;

	/** Longer than a client takes to send what it sends together. */
	private final Duration lateness;

	private final FaultProxy database;

	private final RoundTrips trips;

	private final DurableCommits commits;

	private final @Nullable FaultProxy store;

	private final @Nullable RoundTrips storeTrips;

	private final AtomicInteger held = new AtomicInteger();

	/** Whether the next COMMIT is that of the call, the first one if there are two. */
	private volatile boolean ending;

	private volatile int storeTripsAtCommit;

	private volatile Runnable atCommit = NOTHING;

	private CallCounter(TestDatabase kind, DatabaseAccess database, CountedBackend backend, Duration lateness)
			throws SQLException {
		this.backend = backend;
		this.lateness = lateness;
		this.commits = DurableCommits.of(kind, database);
		this.database = new FaultProxy(database.port());
		this.trips = new RoundTrips(this.database, WireProtocol.valueOf(kind.name()));
		WireProtocol protocol = backend.protocol();
		this.store = (protocol != null) ? new FaultProxy(backend.port()) : null;
		this.storeTrips = (this.store != null) ? new RoundTrips(this.store, protocol) : null;
		if (this.store != null && this.storeTrips != null) {
			delayReplies(this.store);
			this.storeTrips.ignore(backend::isOfNoCall);
		}
		this.trips.beforeRequest((request) -> {
			if (this.ending && request.equalsIgnoreCase("COMMIT")) {
				this.ending = false;
				this.storeTripsAtCommit = (this.storeTrips != null) ? this.storeTrips.count() : 0;
				this.atCommit.run();
			}
		});
	}

	/**
	 * Counts all calls of a backend.
	 * @param lateness how late replies are; if it is less than a client takes to send
	 * what it sends together, too many round trips are counted
	 */
	static Map<CallKind, Cost> count(CountedBackend.Counted counted, TestDatabase kind, Duration lateness)
			throws Exception {
		DatabaseAccess database = kind.newDatabase();
		Map<CallKind, Cost> costs = new EnumMap<>(CallKind.class);
		CountedBackend backend = counted.backend();
		try (CallCounter counter = new CallCounter(kind, database, backend, lateness)) {
			backend
				.application(database.onPort(counter.database.port()),
						(counter.store != null) ? counter.store.port() : 0)
				.withBean(Shop.class)
				.withBean(LockListener.class, () -> counter.new HeldLocks())
				.withPropertyValues("holdfast.jdbc.initialize-schema=always", "holdfast.lease-time=10m",
						"holdfast.wait-time=1m", "holdfast.handover.max-time=1m",
						"spring.datasource.hikari.minimum-idle=0", "spring.datasource.hikari.maximum-pool-size=4")
				.withPropertyValues(counted.level().isEmpty() ? new String[0]
						: new String[] { "holdfast.commit-guard=" + counted.level() })
				.run((context) -> counter.count(context.getBean(Shop.class), counted.level(), costs));
		}
		return costs;
	}

	private void count(Shop shop, String level, Map<CallKind, Cost> costs) throws Exception {
		for (CallKind kind : CallKind.values()) {
			if (kind.isCountedAt(level)) {
				if (kind == CallKind.TWO_KEYS) {
					delayReplies(this.database);
				}
				Cost cost = count(kind, shop);
				boolean awaited = this.store == null || isReleaseAwaited(kind, shop, this.store);
				costs.put(kind, cost.withReleaseAwaited(awaited));
				this.database.beforeReply(NOTHING);
			}
		}
	}

	/**
	 * What a call costs; what it cost the last time, if that is something else each time.
	 */
	private Cost count(CallKind kind, Shop shop) {
		Cost cost = countOnce(kind, shop);
		int times = 1;
		for (int i = 1; i < MOST && times < TIMES; i++) {
			Cost last = cost;
			cost = countOnce(kind, shop);
			times = cost.isLike(last) ? times + 1 : 1;
		}
		return cost;
	}

	private Cost countOnce(CallKind kind, Shop shop) {
		this.trips.clear();
		if (this.storeTrips != null) {
			this.storeTrips.clear();
		}
		long before = this.commits.count();
		kind.run(shop, () -> this.ending = true);
		awaitEnd();
		return new Cost(this.trips.list(), this.commits.count() - before,
				(this.storeTrips != null) ? this.storeTrips.list() : List.of(), this.storeTripsAtCommit, true);
	}

	/**
	 * Whether a call waits for the store after its COMMIT: it does if it does not end
	 * while the answers of the store are held back.
	 */
	private boolean isReleaseAwaited(CallKind kind, Shop shop, FaultProxy store) throws Exception {
		this.atCommit = () -> store.inject(FaultProxy.Fault.HOLD_REPLIES);
		try {
			CompletableFuture<Void> call = CompletableFuture.runAsync(() -> kind.run(shop, () -> this.ending = true));
			boolean ended = ends(call);
			store.inject(FaultProxy.Fault.NONE);
			call.get();
			awaitEnd();
			return !ended;
		}
		finally {
			this.atCommit = NOTHING;
			store.inject(FaultProxy.Fault.NONE);
		}
	}

	private static boolean ends(CompletableFuture<?> call) throws Exception {
		try {
			call.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
			return true;
		}
		catch (TimeoutException ex) {
			return false;
		}
	}

	private void awaitEnd() {
		await().pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(1)).atMost(PATIENCE).until(this::isOver);
	}

	private boolean isOver() {
		return this.held.get() == 0 && this.backend.isCleanedUp() && this.trips.isQuiet()
				&& (this.storeTrips == null || this.storeTrips.isQuiet());
	}

	private void delayReplies(FaultProxy proxy) {
		proxy.beforeReply(() -> LockSupport.parkNanos(this.lateness.toNanos()));
	}

	@Override
	public void close() throws SQLException {
		this.database.close();
		if (this.store != null) {
			this.store.close();
		}
		this.commits.close();
	}

	/**
	 * Knows how many calls the store has not answered yet that their lock is released.
	 */
	private final class HeldLocks implements LockListener {

		@Override
		public void onAcquired(Call call, Duration waitTime) {
			CallCounter.this.held.incrementAndGet();
		}

		@Override
		public void onReleased(Call call, Outcome outcome, Duration holdTime) {
			CallCounter.this.held.decrementAndGet();
		}

	}

}
