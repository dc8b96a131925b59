package io.github.holdfast.chaos;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.support.JdbcUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockRequest;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.DatabaseAccess;

/**
 * A node: runs its programs again and again, from {@code GO} to {@code STOP} on its
 * standard input, and then looks whether the locks are free when it is asked to.
 */
final class Holder {

	private static final int REST_MILLIS = 50;

	private static final int POOL_SIZE = 12;

	private static final Duration WAIT_TIME = Duration.ofSeconds(2);

	/** How long it is tried to get the locks after the faults. */
	static final Duration FREE_TIME = Duration.ofSeconds(40);

	private static final Duration PROBE_TIME = Duration.ofSeconds(5);

	private final String name;

	private final int node;

	private final Plan plan;

	private final Journal journal;

	private final LockTemplate locks;

	private final Shop shop;

	private final TransactionTemplate transaction;

	private final TransactionTemplate readOnly;

	private final HikariDataSource pool;

	private final ScheduledExecutorService interrupts = Executors.newSingleThreadScheduledExecutor((task) -> {
		Thread thread = new Thread(task, "interrupts");
		thread.setDaemon(true);
		return thread;
	});

	private volatile boolean stopped;

	private Holder(String name, int node, Plan plan, Journal journal, ApplicationContext context) {
		this.name = name;
		this.node = node;
		this.plan = plan;
		this.journal = journal;
		this.locks = context.getBean(LockTemplate.class);
		this.shop = context.getBean(Shop.class);
		PlatformTransactionManager transactionManager = context.getBean(PlatformTransactionManager.class);
		this.transaction = new TransactionTemplate(transactionManager);
		this.readOnly = new TransactionTemplate(transactionManager);
		this.readOnly.setReadOnly(true);
		this.pool = pool(context);
	}

	/**
	 * Starts a node.
	 * @param args its name, its number, the file of the plan, the directory of the
	 * journals, the database, and the port of the store
	 */
	public static void main(String[] args) throws IOException {
		Plan plan = Plan.parse(Files.readString(Path.of(args[2])));
		Journal journal = new Journal(Path.of(args[3], args[0] + ".journal"));
		DatabaseAccess database = new DatabaseAccess(args[4], args[5], args[6]);
		application(plan, database, Integer.parseInt(args[7])).run((context) -> {
			Throwable failure = context.getStartupFailure();
			if (failure != null) {
				failure.printStackTrace();
				say("FAILED");
				return;
			}
			new Holder(args[0], Integer.parseInt(args[1]), plan, journal, context).obey();
		});
		System.exit(0);
	}

	private static ApplicationContextRunner application(Plan plan, DatabaseAccess database, int storePort) {
		Target target = plan.target();
		ApplicationContextRunner application = target.backend()
			.application(database, storePort)
			.withBean(Accounts.class)
			.withBean(Shop.class)
			.withBean(Batch.class)
			.withPropertyValues(target.level().properties().toArray(String[]::new))
			.withPropertyValues("holdfast.jdbc.initialize-schema=never", "holdfast.fence.initialize-schema=never",
					"holdfast.lease-time=" + plan.leaseTime() + "ms",
					"holdfast.wait-time=" + WAIT_TIME.toMillis() + "ms", "spring.main.banner-mode=off",
					"spring.datasource.hikari.maximum-pool-size=" + POOL_SIZE,
					"spring.datasource.hikari.connection-timeout=3000",
					"spring.datasource.hikari.validation-timeout=1000",
					"spring.datasource.hikari.transaction-isolation=" + target.isolation().poolSetting(),
					"spring.data.redis.timeout=1s", "spring.data.redis.connect-timeout=1s", "logging.level.root=off");
		return (target.level() == Level.UNCHECKED) ? application.withBean(UncheckedFence.class) : application;
	}

	private void obey() throws IOException {
		List<Thread> threads = new ArrayList<>();
		for (Plan.Program program : this.plan.programs(this.node)) {
			Thread thread = new Thread(() -> run(program), "program-" + program.thread());
			thread.setDaemon(true);
			threads.add(thread);
		}
		say("READY");
		BufferedReader orders = new BufferedReader(new InputStreamReader(System.in));
		for (String order = orders.readLine(); order != null; order = orders.readLine()) {
			switch (order) {
				case "GO" -> threads.forEach(Thread::start);
				case "STOP" -> this.stopped = true;
				case "JOIN" -> {
					threads.forEach(Holder::join);
					say("JOINED");
				}
				case "PROBE" -> probe();
				case "REST" -> say("RESTS " + this.pool.getHikariPoolMXBean().getActiveConnections());
				case "END" -> {
					return;
				}
				default -> {
					int millis = Integer.parseInt(order.substring("EXHAUST ".length()));
					Thread thread = new Thread(() -> exhaust(millis), "exhaust");
					thread.setDaemon(true);
					thread.start();
				}
			}
		}
	}

	private static HikariDataSource pool(ApplicationContext context) {
		try {
			return context.getBean(DataSource.class).unwrap(HikariDataSource.class);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Takes all connections that it can get, and keeps them for some time.
	 */
	private void exhaust(int millis) {
		long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
		List<Connection> taken = new ArrayList<>();
		try {
			for (int i = 0; i < POOL_SIZE && System.nanoTime() < end; i++) {
				taken.add(this.pool.getConnection());
			}
			TimeUnit.NANOSECONDS.sleep(end - System.nanoTime());
		}
		catch (SQLException | InterruptedException ex) {
			// The database fails, too
		}
		finally {
			taken.forEach(JdbcUtils::closeConnection);
		}
	}

	private static void join(Thread thread) {
		try {
			thread.join();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void say(String line) {
		System.out.println(line);
	}

	private void run(Plan.Program program) {
		for (int i = 0; !this.stopped; i++) {
			Step step = program.steps().get(i % program.steps().size());
			Call call = call(this.name + "-" + program.thread() + "-" + i, step);
			this.journal.add(call);
			if (call.ending() != Ending.RESULT) {
				rest();
			}
		}
	}

	/**
	 * As callers do before they try again.
	 */
	private static void rest() {
		try {
			TimeUnit.MILLISECONDS.sleep(REST_MILLIS);
		}
		catch (InterruptedException ex) {
			// Meant for the call that has ended
		}
	}

	private Call call(String id, Step step) {
		Step possible = this.plan.target().possible(step);
		CallRecorder call = new CallRecorder(id, possible, this.node);
		Throwable failure = null;
		try {
			perform(possible, call);
		}
		catch (Throwable ex) {
			failure = ex;
		}
		Thread.interrupted();
		return call.end(failure);
	}

	private void perform(Step step, CallRecorder call) {
		String key = step.key();
		switch (step.kind()) {
			case DECLARATIVE -> this.shop.sell(key, call);
			case TEMPLATE -> sell(this.locks, key, call);
			case SCOPE -> scope(key, call);
			case REQUIRES_NEW -> this.transaction.executeWithoutResult((status) -> call.transaction(() -> {
				this.shop.sellApart(key, call);
				return key;
			}));
			case REENTRANT -> this.locks.run(key, () -> call.transaction(() -> {
				this.shop.sell(key, call);
				return key;
			}));
			case NESTED -> nested(key, call);
			case SEVERAL_KEYS -> this.shop.sellAll(PlanSource.KEYS, call);
			case LISTENER -> this.shop.sellAndPublish(key, call);
			case INNER -> this.shop.sellWithInner(key, call);
			case SAVEPOINT -> this.shop.sellWithSavepoint(key, call);
			case TWO_COMMITS -> this.locks.run(key, () -> call.underLock(() -> {
				sellInTransaction(key, call);
				sellInTransaction(key, call);
			}));
			case EXCEPTION -> this.shop.sellAndRefuse(key, call);
			case INTERRUPT -> interrupted(step, () -> this.shop.sell(key, call));
			case READ_ONLY -> this.shop.look(key, call);
			case OPTIMISTIC -> sell(this.locks.withMode(LockRequest.Mode.OPTIMISTIC), key, call);
			case FAIR -> sell(this.locks.withFair(true), key, call);
			case SHARED -> this.locks.withMode(LockRequest.Mode.SHARED)
				.run(key, () -> call.underLock(() -> call.transaction(() -> this.readOnly.execute((status) -> {
					this.shop.look(key, key, call);
					call.finished();
					return key;
				}))));
			case MINIMUM_HOLD -> this.shop.sellAndStay(key, call);
			case BATCH -> this.shop.sellInBatch(key, call);
		}
	}

	private void sell(LockTemplate template, String key, CallRecorder call) {
		template.run(key, () -> call.underLock(() -> sellInTransaction(key, call)));
	}

	private void sellInTransaction(String key, CallRecorder call) {
		call.transaction(() -> this.transaction.execute((status) -> {
			this.shop.sell(key, key, call);
			call.finished();
			return key;
		}));
	}

	@SuppressWarnings("try")
	private void scope(String key, CallRecorder call) {
		try (LockTemplate.Scope scope = this.locks.acquire(key)) {
			call.underLock(() -> sellInTransaction(key, call));
		}
	}

	/**
	 * Takes the locks of this key and of the next one, in the order in which everybody
	 * takes them.
	 */
	private void nested(String key, CallRecorder call) {
		int next = PlanSource.KEYS.indexOf(key) + 1;
		if (next == PlanSource.KEYS.size()) {
			sell(this.locks, key, call);
			return;
		}
		String inner = PlanSource.KEYS.get(next);
		this.locks.run(key, () -> this.locks.run(inner, () -> call.underLock(() -> {
			sellInTransaction(inner, call);
			sellInTransaction(key, call);
		})));
	}

	private void interrupted(Step step, Runnable code) {
		Thread caller = Thread.currentThread();
		ScheduledFuture<?> interrupt = this.interrupts.schedule(caller::interrupt, step.think(), TimeUnit.MILLISECONDS);
		try {
			code.run();
		}
		finally {
			interrupt.cancel(false);
		}
	}

	/**
	 * Takes each lock once, and sells under it. Says how long that took from now on.
	 */
	private void probe() {
		long started = System.nanoTime();
		LockTemplate patient = this.locks.withWaitTime(PROBE_TIME);
		List<String> busy = new ArrayList<>(PlanSource.KEYS);
		for (int i = 0; !busy.isEmpty() && System.nanoTime() - started < FREE_TIME.toNanos(); i++) {
			String key = busy.get(0);
			CallRecorder call = new CallRecorder(this.name + "-probe-" + i, new Step(Step.Kind.TEMPLATE, key, 0),
					this.node);
			Throwable failure = null;
			try {
				sell(patient, key, call);
				busy.remove(0);
			}
			catch (RuntimeException ex) {
				failure = ex;
			}
			this.journal.add(call.end(failure));
		}
		say("FREE " + (busy.isEmpty() ? TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - started) : -1));
	}

}
