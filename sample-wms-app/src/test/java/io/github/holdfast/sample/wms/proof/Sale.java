package io.github.holdfast.sample.wms.proof;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Clients that want more than there is: 400 orders over 32 connections for 100 pieces of
 * each SKU.
 */
final class Sale {

	static final int STOCK = 100;

	static final int ORDERS = 400;

	/** What each order asks for, if nothing else matters. */
	static final List<List<String>> ONE_SKU = List.of(List.of("A"));

	private static final int CLIENTS = 32;

	private final StockDatabase database;

	private final String customerNo = "C-" + UUID.randomUUID();

	private final WarehouseClient client;

	Sale(StockDatabase database, Cluster cluster) {
		this.database = database;
		this.client = new WarehouseClient(cluster, this.customerNo);
	}

	/**
	 * Creates all orders, then confirms them.
	 * @param title names the run in the report
	 * @param orders the SKUs of the orders, taken in turn
	 * @param afterEach called after each confirmation
	 * @return what came of it
	 */
	Result run(String title, List<List<String>> orders, Action afterEach) throws Exception {
		List<String> skus = orders.stream().flatMap(List::stream).distinct().toList();
		for (String sku : skus) {
			this.client.receive(sku, STOCK);
		}
		forEachOrder((order) -> () -> {
			this.client.create(orderNo(order), orders.get(order % orders.size()).toArray(String[]::new));
			return true;
		});
		LongAccumulator lowest = new LongAccumulator(Math::min, STOCK);
		List<Boolean> answers = forEachOrder((order) -> () -> {
			boolean confirmed = this.client.confirm(orderNo(order));
			for (String sku : skus) {
				lowest.accumulate(this.database.stock(this.customerNo, sku));
			}
			afterEach.run();
			return confirmed;
		});
		List<Long> stock = new ArrayList<>();
		for (String sku : skus) {
			stock.add(this.database.stock(this.customerNo, sku));
		}
		Result result = new Result(answers.stream().filter((confirmed) -> confirmed).count(),
				answers.stream().filter((confirmed) -> !confirmed).count(), this.database.confirmed(this.customerNo),
				this.client.retries(), this.client.errors(), stock, lowest.get());
		System.out.println("PROOF " + this.database.name() + ", " + title + ": " + result);
		return result;
	}

	/**
	 * Whether a client had to try again since it was told of this problem.
	 */
	boolean hasMet(String problem) {
		return this.client.errors().contains(problem);
	}

	/**
	 * Something that happens once, when half of the stock is sold at most.
	 */
	static Action halfWay(Action action) {
		AtomicInteger answers = new AtomicInteger();
		return () -> {
			if (answers.incrementAndGet() == STOCK / 2) {
				action.run();
			}
		};
	}

	private String orderNo(int order) {
		return this.customerNo + "-" + order;
	}

	private static <T> List<T> forEachOrder(IntFunction<Callable<T>> task) throws Exception {
		return call(ORDERS, CLIENTS, task);
	}

	/**
	 * Calls by several clients.
	 * @param calls how many calls
	 * @param number how many clients
	 * @param task a call, by its number
	 * @return their answers
	 */
	static <T> List<T> call(int calls, int number, IntFunction<Callable<T>> task) throws Exception {
		ExecutorService clients = Executors.newFixedThreadPool(number);
		try {
			List<T> results = new ArrayList<>();
			for (Future<T> future : clients.invokeAll(IntStream.range(0, calls).mapToObj(task).toList(), 5,
					TimeUnit.MINUTES)) {
				results.add(future.get());
			}
			return results;
		}
		finally {
			clients.shutdownNow();
		}
	}

	/**
	 * What happens on the way.
	 */
	@FunctionalInterface
	interface Action {

		void run() throws Exception;

	}

	/**
	 * What came of a sale.
	 *
	 * @param confirmed how many clients were told that their order is confirmed
	 * @param refused how many clients were told that stock does not suffice
	 * @param confirmedInDatabase how many orders are confirmed
	 * @param retries how many requests were sent again
	 * @param errors the problems after which they were
	 * @param stock what is left of each SKU
	 * @param lowestStock the least that was seen of any SKU at any time
	 */
	record Result(long confirmed, long refused, long confirmedInDatabase, int retries, Set<String> errors,
			List<Long> stock, long lowestStock) {

		void assertSoldOut() {
			assertThat(this.confirmed).isEqualTo(STOCK);
			assertThat(this.confirmedInDatabase).isEqualTo(STOCK);
			assertThat(this.refused).isEqualTo(ORDERS - STOCK);
			assertThat(this.stock).containsOnly(0L);
			assertThat(this.lowestStock).isZero();
		}

		void assertOversold() {
			assertThat(this.confirmed).isEqualTo(this.confirmedInDatabase).isGreaterThan(STOCK);
		}

	}

}
