package io.github.holdfast.benchmarks.contended;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.util.Assert;

import io.github.holdfast.benchmarks.Contender;
import io.github.holdfast.benchmarks.LockClient;
import io.github.holdfast.benchmarks.Store;
import io.github.holdfast.benchmarks.Transactions;
import io.github.holdfast.benchmarks.contended.Load.LoadResult;

/** A JVM with threads that want the one lock, and does one thing after the other. */
final class Worker {

	/** What distinguishes answers from anything else that is printed. */
	static final String ANSWER = "worker: ";

	/**
	 * In the first of three parts of the warm-up, each thread has a key of its own, so
	 * that all of the code that talks to the store is compiled: some locks call it rarely
	 * later.
	 */
	private static final int PARTS = 3;

	/**
	 * Until the last part, so that the compiler of one JVM gets more of the processors.
	 */
	private static final int FEW_THREADS = 2;

	private static final VarHandle COUNTER = MethodHandles.byteBufferViewVarHandle(long[].class,
			ByteOrder.nativeOrder());

	private final PrintStream out = System.out;

	private final BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));

	private final LockClient client;

	/** Not that of the others, which have their stock and their locks there as well. */
	private final String key;

	private Worker(LockClient client, String key) {
		this.client = client;
		this.key = key;
	}

	public static void main(String[] args) throws Exception {
		Scenario scenario = Scenario.valueOf(args[0]);
		Contender contender = Contender.valueOf(args[1]);
		List<String> properties = new ArrayList<>(List.of(args).subList(5, args.length));
		properties.add("spring.datasource.hikari.auto-commit=" + scenario.hasAutoCommit());
		if (!scenario.jdbcUrl().equals(Store.JDBC_URL)) {
			properties.removeIf((property) -> property.startsWith(Store.JDBC_URL));
			properties.add(Store.JDBC_URL + "=${" + scenario.jdbcUrl() + "}");
		}
		try (ConfigurableApplicationContext application = contender.start(scenario.hasTransactions(), properties)) {
			Worker worker = new Worker(contender.client(application), "inventory:" + Path.of(args[4]).getFileName());
			Work work = scenario.hasTransactions() ? worker.transactions(application, contender, scenario)
					: worker.counting(Path.of(args[4]));
			worker.run(scenario.threads(), work, Long.parseLong(args[2]), Long.parseLong(args[3]));
		}
	}

	/**
	 * A number in memory that the JVMs share through a file; it is read, then written.
	 */
	private Work counting(Path file) throws IOException {
		try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
			ByteBuffer memory = channel.map(MapMode.READ_WRITE, 0, Long.BYTES);
			return new Work(() -> this.client.run(ownKey(), () -> {
			}), () -> this.client.run(this.key, () -> COUNTER.setVolatile(memory, 0, count(memory) + 1)),
					() -> count(memory));
		}
	}

	private static long count(ByteBuffer memory) {
		return (long) COUNTER.getVolatile(memory, 0);
	}

	private Work transactions(ConfigurableApplicationContext application, Contender contender, Scenario scenario) {
		Transactions transactions = application.getBean(Transactions.class);
		Stock stock = new Stock(application.getBean(JdbcTemplate.class), contender == Contender.SELECT_FOR_UPDATE);
		if (scenario.hasDistinctKeys()) {
			return distinct(transactions, stock, scenario.threads());
		}
		try {
			transactions.run(() -> stock.fill(this.key));
		}
		catch (DuplicateKeyException ex) {
			// Another JVM has been faster
		}
		return new Work(() -> this.client.runInTransaction(ownKey(), transactions, () -> stock.deducted(this.key)),
				() -> this.client.runInTransaction(this.key, transactions, () -> stock.deductOne(this.key)),
				() -> stock.deducted(this.key));
	}

	/** Each round has as many threads as there are keys. Other JVMs have others. */
	private Work distinct(Transactions transactions, Stock stock, int threads) {
		String own = this.key + "-" + ProcessHandle.current().pid() + "-";
		List<String> keys = IntStream.range(0, threads).mapToObj((i) -> own + i).toList();
		transactions.run(() -> keys.forEach(stock::fill));
		AtomicInteger next = new AtomicInteger();
		ThreadLocal<String> mine = ThreadLocal.withInitial(() -> keys.get(next.getAndIncrement() % threads));
		return new Work(() -> this.client.runInTransaction(mine.get(), transactions, () -> stock.deducted(mine.get())),
				() -> this.client.runInTransaction(mine.get(), transactions, () -> stock.deductOne(mine.get())),
				() -> stock.deductedOfAll(this.key));
	}

	private String ownKey() {
		return this.key + ":" + Thread.currentThread().getId();
	}

	private void run(int threads, Work work, long warmUpMillis, long measuredMillis)
			throws IOException, InterruptedException {
		await("warm up");
		int few = Math.min(FEW_THREADS, threads);
		Load own = Load.start(few, work.ownTurn());
		Thread.sleep(warmUpMillis / PARTS);
		own.end();
		round(few, work, warmUpMillis / PARTS);
		round(threads, work, warmUpMillis / PARTS);
		while (true) {
			round(threads, work, measuredMillis);
		}
	}

	private void round(int threads, Work work, long millis) throws IOException, InterruptedException {
		await("start");
		Load load = Load.start(threads, work.turn());
		load.measure(millis);
		await("end");
		LoadResult result = load.end();
		await("check");
		answer(work.updates().getAsLong());
		answer(result);
	}

	private void await(String order) throws IOException {
		answer(order);
		String line = this.in.readLine();
		Assert.state(order.equals(line), () -> "Told to " + line + " instead of " + order);
	}

	private void answer(Object answer) {
		this.out.println(ANSWER + answer);
	}

	/** What is done under the lock: nothing, or an update, and how many there were. */
	private record Work(Runnable ownTurn, Runnable turn, LongSupplier updates) {

	}

}
