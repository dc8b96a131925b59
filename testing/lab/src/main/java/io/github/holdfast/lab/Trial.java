package io.github.holdfast.lab;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.web.client.RestClientException;

import io.github.holdfast.lab.strategy.Order;
import io.github.holdfast.lab.strategy.OrderView;
import io.github.holdfast.lab.strategy.StrategyType.Peril;
import io.github.holdfast.lab.strategy.StrategyType;

/**
 * One strategy in a run: its orders, and what has come of them.
 */
final class Trial {

	private final StrategyType strategy;

	private final RunRequest request;

	private final String name;

	private final Lab lab;

	private final AtomicInteger next = new AtomicInteger(1);

	private final List<OrderView> orders = new ArrayList<>();

	private final List<Long> durations = new ArrayList<>();

	private volatile long origin;

	private @Nullable Facts facts;

	private Sales sales = new Sales(List.of());

	Trial(String run, StrategyType strategy, RunRequest request, Lab lab) {
		this.strategy = strategy;
		this.request = request;
		this.name = "run-" + run + ":" + strategy.id();
		this.lab = lab;
		this.origin = now();
	}

	void stock() {
		this.lab.database().create(this.name, this.request.skus(), this.request.stock());
	}

	/** Sends all orders, and waits until all are answered. */
	void run(List<LabNode> nodes, Runnable begun) throws InterruptedException {
		this.origin = now();
		begun.run();
		ExecutorService customers = Executors.newFixedThreadPool(this.request.concurrency());
		try {
			for (int customer = 0; customer < this.request.concurrency(); customer++) {
				int first = customer;
				customers.execute(() -> order(nodes, first));
			}
			customers.shutdown();
			customers.awaitTermination(Long.MAX_VALUE, TimeUnit.NANOSECONDS);
		}
		finally {
			customers.shutdownNow();
			settle();
		}
	}

	/** One customer, who orders as long as there are orders left. */
	private void order(List<LabNode> nodes, int customer) {
		try {
			int number = this.next.getAndIncrement();
			while (number <= this.request.orders()) {
				awaitTurn(number);
				order(number, choose(nodes, customer));
				number = this.next.getAndIncrement();
			}
		}
		catch (InterruptedException ex) {
			// The run was cancelled
		}
	}

	private void awaitTurn(int number) throws InterruptedException {
		if (this.request.ratePerSecond() != null) {
			long due = this.origin + 1_000_000L * (number - 1) / this.request.ratePerSecond();
			TimeUnit.MICROSECONDS.sleep(due - now());
		}
	}

	/**
	 * As a load balancer does: always the same node, unless it is down. That one stands
	 * still, it does not know.
	 * @return the node; the customer's own one, if all have died and none comes back
	 */
	private static LabNode choose(List<LabNode> nodes, int customer) throws InterruptedException {
		while (true) {
			for (int i = 0; i < nodes.size(); i++) {
				LabNode node = nodes.get((customer + i) % nodes.size());
				if (node.state() == LabNode.State.UP || node.state() == LabNode.State.FROZEN) {
					return node;
				}
			}
			if (nodes.stream().allMatch(LabNode::hasDied)) {
				return nodes.get(customer % nodes.size());
			}
			TimeUnit.MILLISECONDS.sleep(10);
		}
	}

	private void order(int number, LabNode node) throws InterruptedException {
		long sent = now();
		OrderView order;
		try {
			order = this.lab.client()
				.send(node, new Order.Request(this.strategy.id(), number,
						LabDatabase.sku(this.name, 1 + number % this.request.skus()), this.request.quantityOf(number),
						this.request.workMs(), this.lab.waitMs(), this.origin));
		}
		catch (RestClientException ex) {
			if (Thread.currentThread().isInterrupted()) {
				throw new InterruptedException();
			}
			order = OrderView.unanswered(number, this.strategy.id(), node.id(), sent - this.origin, now() - this.origin,
					"Not answered by node " + node.id() + ": " + ex.getMessage());
		}
		add(order, now() - sent);
	}

	private synchronized void add(OrderView order, long duration) {
		this.orders.add(order);
		this.durations.add(duration);
	}

	/**
	 * Asks the database what was sold: a node that was killed may have sold what it did
	 * not answer.
	 */
	private synchronized void settle() {
		this.sales = this.lab.database().sales(this.name);
		this.orders.replaceAll(this.sales::complete);
		this.facts = facts(this.sales.count(), this.sales.pieces(), this.sales.overwritten().size(),
				now() - this.origin);
	}

	/**
	 * The facts as they are now. Until the run is over, the lost updates are those that
	 * the stock shows.
	 */
	synchronized Facts facts() {
		if (this.facts != null) {
			return this.facts;
		}
		long sold = count(OrderView.Outcome.SOLD);
		long pieces = this.orders.stream()
			.filter((order) -> order.outcome() == OrderView.Outcome.SOLD)
			.mapToLong((order) -> this.request.quantityOf(order.n()))
			.sum();
		long missing = this.lab.database().available(this.name) - this.request.stock() + pieces;
		return facts(sold, pieces, Math.max(0, missing * sold / Math.max(1, pieces)), now() - this.origin);
	}

	private Facts facts(long sold, long pieces, long lostUpdates, long duration) {
		long stockBefore = this.request.stock();
		long reallyLeft = stockBefore - pieces;
		long[] sorted = this.durations.stream().mapToLong(Long::longValue).sorted().toArray();
		return new Facts(this.request.orders(), this.orders.size(), sold, count(OrderView.Outcome.REFUSED),
				count(OrderView.Outcome.BUSY), count(OrderView.Outcome.LOST), count(OrderView.Outcome.FAILED),
				stockBefore, this.lab.database().available(this.name), reallyLeft, Math.max(0, -reallyLeft),
				lostUpdates, refusals().flatMap(this::wouldOverwrite).distinct().count(),
				rounded(this.orders.size() * 1_000_000.0 / Math.max(1, duration)), percentile(sorted, 0.5),
				percentile(sorted, 0.99), duration / 1_000);
	}

	/** The orders whose commits were refused and would have overwritten sales. */
	private Stream<OrderView> refusals() {
		return this.orders.stream()
			.filter((order) -> order.outcome() == OrderView.Outcome.LOST && order.overtakenBy() != null
					&& order.overtakenBy() > 0);
	}

	/**
	 * The changes that an order would have overwritten, each with the number of its SKU.
	 */
	private Stream<List<Long>> wouldOverwrite(OrderView refused) {
		long sku = refused.n() % this.request.skus();
		long read = Objects.requireNonNull(refused.readChanges());
		return LongStream.rangeClosed(read + 1, read + Objects.requireNonNull(refused.overtakenBy()))
			.mapToObj((change) -> List.of(sku, change));
	}

	private int count(OrderView.Outcome outcome) {
		return (int) this.orders.stream().filter((order) -> order.outcome() == outcome).count();
	}

	private static double percentile(long[] sorted, double share) {
		return (sorted.length != 0) ? rounded(sorted[(int) Math.ceil(share * sorted.length) - 1] / 1_000.0) : 0;
	}

	private static double rounded(double value) {
		return Math.round(value * 10) / 10.0;
	}

	/**
	 * How many orders waited without success while nothing at all was sold or refused.
	 */
	private int blocked() {
		NavigableSet<Long> decided = new TreeSet<>();
		this.orders.stream()
			.filter((order) -> order.outcome() == OrderView.Outcome.SOLD
					|| order.outcome() == OrderView.Outcome.REFUSED)
			.forEach((order) -> decided.add(order.end()));
		return (int) this.orders.stream()
			.filter((order) -> order.outcome() == OrderView.Outcome.BUSY
					&& order.end() - order.start() >= this.lab.waitMs() * 900L)
			.filter((order) -> decided.subSet(order.start(), order.end()).isEmpty())
			.count();
	}

	/** How many orders waited in vain, although what is left would do for one of them. */
	private int turnedAway() {
		return (facts().stockAfter() >= this.request.quantity()) ? count(OrderView.Outcome.BUSY) : 0;
	}

	synchronized Verdict verdict(List<Fault> faults) {
		Set<Peril> perils = faults.stream().flatMap((fault) -> fault.peril().stream()).collect(Collectors.toSet());
		boolean hidden = Sales.pieces(this.sales.overwritten()) > facts().stockAfter() - facts().reallyLeft();
		return Verdict.of(facts(), hidden, blocked(), (int) this.orders.stream().filter(OrderView::starved).count(),
				turnedAway(), (int) refusals().count(), !faults.isEmpty(), this.lab.waitMs(),
				this.strategy.guards(this.request.nodes(), perils) ? null : Presets.breaks(this.strategy));
	}

	synchronized List<OrderView> orders() {
		return this.orders.stream().sorted(Comparator.comparingInt(OrderView::n)).toList();
	}

	synchronized Optional<LostUpdate> firstLostUpdate() {
		return this.sales.firstLostUpdate()
			.flatMap((overlap) -> find(overlap.earlier()).flatMap((first) -> find(overlap.later())
				.map((second) -> new LostUpdate(first, second, overlap.overwritten(), overlap.stockBefore()))));
	}

	private Optional<OrderView> find(int number) {
		return this.orders.stream().filter((order) -> order.n() == number).findFirst();
	}

	StrategyType strategy() {
		return this.strategy;
	}

	long elapsedMs() {
		return (now() - this.origin) / 1_000;
	}

	private static long now() {
		return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
	}

	/**
	 * Two orders, of which one should have read what the other one wrote.
	 *
	 * @param stockBefore what the database said immediately before the second one's
	 * commit
	 */
	record LostUpdate(OrderView first, OrderView second, long overwritten, long stockBefore) {
	}

	/**
	 * What has come of the orders. Everything about the stock is from the database.
	 *
	 * @param stockAfter how many the row says are left
	 * @param reallyLeft how many are left after all that was sold; negative if it is
	 * oversold
	 * @param lostUpdates how many sales were overwritten, each of which counts once
	 * @param saved how many sales the commits that were refused would have overwritten
	 */
	record Facts(int orders, int answered, long sold, int refused, int busy, int lost, int failed, long stockBefore,
			long stockAfter, long reallyLeft, long oversold, long lostUpdates, long saved, double throughput,
			double p50Ms, double p99Ms, long durationMs) {
	}

}
