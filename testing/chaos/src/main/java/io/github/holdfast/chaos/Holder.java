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
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;

import org.springframework.batch.infrastructure.support.transaction.ResourcelessTransactionManager;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.jdbc.support.JdbcUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockLostException;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.DatabaseAccess;

/**
 * A node: runs its programs again and again, from {@code GO} to {@code STOP} on its
 * standard input, and then looks whether the locks are free when it is asked to.
 */
final class Holder {

	private static final String SEPARATOR = "\t";

	private static final int REST_MILLIS = 50;

	private static final int POOL_SIZE = 12;

	/** More of one kind are no pool of the library. */
	private static final int MAX_THREADS = 8;

	static final Duration WAIT_TIME = Duration.ofSeconds(2);

	private static final Duration SHORT_POOL_TIME = Duration.ofSeconds(1);

	/** How long a pool lets callers wait for a connection at most. */
	static final Duration POOL_TIME = Duration.ofSeconds(3);

	/** How long it is tried to get the locks after the faults. */
	static final Duration FREE_TIME = Duration.ofSeconds(40);

	private static final Duration PROBE_TIME = Duration.ofSeconds(5);

	private final String name;

	/** A process may be asked for them again. */
	private int probes;

	private final int node;

	private final Plan plan;

	private final Journal journal;

	private final LockTemplate locks;

	private final Shop shop;

	private final Till till;

	private final Entities entities;

	private final Borrowing borrowing;

	private final LateSales lateSales;

	private final Accounts otherAccounts;

	private final TransactionTemplate transaction;

	private final TransactionTemplate other;

	private final TransactionTemplate readOnly;

	private final TransactionTemplate batchStep = new TransactionTemplate(new ResourcelessTransactionManager());

	private final Tenants tenants;

	private final ConfigurableApplicationContext context;

	/** How often the context was stopped or started: odd while it is stopped. */
	private volatile int switches;

	private final HikariDataSource pool;

	private final ScheduledExecutorService interrupts = Executors.newSingleThreadScheduledExecutor((task) -> {
		Thread thread = new Thread(task, "interrupts");
		thread.setDaemon(true);
		return thread;
	});

	private volatile boolean stopped;

	private Holder(String name, int node, Plan plan, Journal journal, AssertableApplicationContext running) {
		ApplicationContext context = running;
		this.context = running.getSourceApplicationContext(ConfigurableApplicationContext.class);
		this.name = name;
		this.node = node;
		this.plan = plan;
		this.journal = journal;
		this.locks = context.getBean(LockTemplate.class);
		this.shop = context.getBean(Shop.class);
		this.till = context.getBean(Till.class);
		this.entities = context.getBean(Entities.class);
		PlatformTransactionManager transactionManager = context.getBean(PlatformTransactionManager.class);
		this.transaction = new TransactionTemplate(transactionManager);
		JdbcTransactionManager otherManager = context.getBean(Managers.OTHER, JdbcTransactionManager.class);
		this.borrowing = new Borrowing(this.locks, context.getBean(Accounts.class), this.entities,
				context.getBean(Managers.JPA, PlatformTransactionManager.class), transactionManager);
		this.lateSales = new LateSales(this.locks, this.shop, transactionManager);
		this.other = new TransactionTemplate(otherManager);
		this.otherAccounts = new Accounts(new JdbcTemplate(Objects.requireNonNull(otherManager.getDataSource())));
		this.readOnly = new TransactionTemplate(transactionManager);
		this.readOnly.setReadOnly(true);
		this.tenants = context.getBean(Tenants.class);
		this.pool = pool(context);
	}

	/**
	 * Waits for nodes to be, one after the other. A process that has been one before is
	 * much faster.
	 */
	public static void main(String[] args) throws IOException {
		BufferedReader orders = new BufferedReader(new InputStreamReader(System.in));
		for (String node = orders.readLine(); node != null; node = orders.readLine()) {
			run(node.split(SEPARATOR, -1), orders);
		}
		System.exit(0);
	}

	/**
	 * The order to be a node.
	 * @param name its name
	 * @param node its number
	 * @param directory where the plan is, and its journal will be
	 * @param database its database
	 * @param store the addresses of the store
	 */
	static String order(String name, int node, Path directory, DatabaseAccess database, String store) {
		return String.join(SEPARATOR, name, String.valueOf(node), directory.toString(), database.url(), database.user(),
				database.password(), store);
	}

	private static void run(String[] args, BufferedReader orders) throws IOException {
		Path directory = Path.of(args[2]);
		Plan plan = Plan.parse(Files.readString(directory.resolve(Machine.PLAN)));
		Journal journal = new Journal(directory.resolve(args[0] + ".journal"));
		DatabaseAccess database = new DatabaseAccess(args[3], args[4], args[5]);
		application(plan, database, args[6]).run((context) -> {
			Throwable failure = context.getStartupFailure();
			if (failure != null) {
				failure.printStackTrace();
				System.exit(1);
			}
			Holder holder = new Holder(args[0], Integer.parseInt(args[1]), plan, journal, context);
			holder.obey(orders);
			holder.interrupts.shutdownNow();
		});
		say("ENDED");
	}

	private static ApplicationContextRunner application(Plan plan, DatabaseAccess database, String store) {
		Target target = plan.target();
		ApplicationContextRunner application = target.backend()
			.application(database, store, plan.leaseTime())
			.withConfiguration(AutoConfigurations.of(HibernateJpaAutoConfiguration.class))
			.withUserConfiguration(Managers.class)
			.withBean(Accounts.class)
			.withBean(Shop.class)
			.withBean(Batch.class)
			.withBean(Till.Inherited.class)
			.withPropertyValues(target.level().properties().toArray(String[]::new))
			.withPropertyValues("holdfast.jdbc.initialize-schema=never", "holdfast.jdbc.initialize-schema=never",
					"holdfast.fenced-transaction-managers=" + Tenants.MANAGER,
					"holdfast.lease-time=" + plan.leaseTime() + "ms",
					"holdfast.wait-time=" + WAIT_TIME.toMillis() + "ms", "spring.main.banner-mode=off",
					"spring.datasource.hikari.maximum-pool-size=" + POOL_SIZE,
					"spring.datasource.hikari.connection-timeout=" + poolTime(plan),
					"spring.datasource.hikari.validation-timeout=1000",
					"spring.datasource.hikari.auto-commit=" + plan.autoCommit(),
					"spring.datasource.hikari.keepalive-time=30000",
					"spring.datasource.hikari.transaction-isolation=" + target.isolation().poolSetting(),
					"spring.data.redis.timeout=" + answerTime(plan), "spring.data.redis.connect-timeout=1s",
					"logging.level.root=off");
		if (target.isolation() != Isolation.SERIALIZABLE) {
			// PostgreSQL would have to remember all that is read while such a transaction
			// is open
			application = application
				.withPropertyValues("spring.datasource.hikari.connection-init-sql=SELECT max(version) FROM account");
		}
		return (target.level() == Level.UNCHECKED) ? application.withBean(UncheckedFence.class) : application;
	}

	/**
	 * Where nothing fails, a machine that is busy with other things is no fault.
	 */
	private static String answerTime(Plan plan) {
		return plan.faults().isEmpty() ? "30s" : "1s";
	}

	/**
	 * Shorter than the longest time for which a pool is used up, so that some of those
	 * who wait for a connection get none.
	 */
	private static long poolTime(Plan plan) {
		return (plan.faults().isEmpty() ? POOL_TIME : SHORT_POOL_TIME).toMillis();
	}

	private void obey(BufferedReader orders) throws IOException {
		List<Thread> threads = new ArrayList<>();
		for (Plan.Program program : this.plan.programs(this.node)) {
			Thread thread = new Thread(() -> run(program), "program-" + program.thread());
			thread.setDaemon(true);
			threads.add(thread);
		}
		say("READY");
		for (String order = orders.readLine(); order != null; order = orders.readLine()) {
			switch (order) {
				case "GO" -> threads.forEach(Thread::start);
				case "STOP" -> this.stopped = true;
				case "JOIN" -> {
					threads.forEach(Holder::join);
					say("JOINED");
				}
				case "PROBE" -> probe();
				case "REST" -> say("RESTS " + String.join(", ", leftovers()));
				case "END" -> {
					return;
				}
				case "MEASURE" -> say("USES " + Usage.now(this.pool.getHikariPoolMXBean().getTotalConnections()));
				case "EXPIRE" -> start("expire", () -> say("EXPIRED " + expireSession()));
				default -> {
					String[] words = order.split(" ");
					int millis = Integer.parseInt(words[1]);
					if (words[0].equals("EXHAUST")) {
						start("exhaust", () -> exhaust(millis));
					}
					else {
						switchContext(millis);
						say("SWITCHED");
					}
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
	 * What is left when no call is.
	 */
	private List<String> leftovers() {
		List<String> left = new ArrayList<>();
		int active = this.pool.getHikariPoolMXBean().getActiveConnections() + this.tenants.active();
		if (active > 0) {
			left.add(active + " connections");
		}
		this.locks.uses().forEach((use) -> left.add("the lock of " + use.key() + " on " + use.thread()));
		Map<String, Long> threads = Thread.getAllStackTraces()
			.keySet()
			.stream()
			.map((thread) -> thread.getName().replaceAll("-?\\d+$", ""))
			.filter((name) -> name.startsWith("holdfast"))
			.collect(Collectors.groupingBy((name) -> name, Collectors.counting()));
		threads.forEach((name, count) -> {
			if (count > MAX_THREADS) {
				left.add(count + " threads " + name);
			}
		});
		return left;
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

	private static void start(String name, Runnable task) {
		Thread thread = new Thread(task, name);
		thread.setDaemon(true);
		thread.start();
	}

	/**
	 * Stops the context, and starts it again after some time.
	 */
	private void switchContext(int millis) {
		this.switches++;
		try {
			this.context.stop();
			TimeUnit.MILLISECONDS.sleep(millis);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		finally {
			this.context.start();
			this.switches++;
		}
	}

	/**
	 * Opens the session of this node a second time, and closes it there.
	 * @return whether that was possible
	 */
	private boolean expireSession() {
		try {
			ZooKeeper session = this.context.getBean(CuratorFramework.class).getZookeeperClient().getZooKeeper();
			CountDownLatch connected = new CountDownLatch(1);
			ZooKeeper twin = new ZooKeeper(
					this.context.getBean(CuratorFramework.class).getZookeeperClient().getCurrentConnectionString(),
					session.getSessionTimeout(), (event) -> {
						if (event.getState() == Watcher.Event.KeeperState.SyncConnected) {
							connected.countDown();
						}
					}, session.getSessionId(), session.getSessionPasswd());
			boolean open = connected.await(session.getSessionTimeout(), TimeUnit.MILLISECONDS);
			twin.close(session.getSessionTimeout());
			return open;
		}
		catch (Exception ex) {
			// The session is gone already, or ZooKeeper does not answer
			return false;
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
		int before = this.switches;
		Step possible = this.plan.possible(step);
		CallRecorder call = new CallRecorder(id, possible, this.node);
		Throwable failure = null;
		try {
			perform(possible, call);
		}
		catch (Throwable ex) {
			failure = ex;
		}
		Thread.interrupted();
		boolean running = before % 2 == 0 && before == this.switches;
		if (running && failure instanceof LockNotAcquiredException ex
				&& ex.reason() == LockNotAcquiredException.Reason.SHUTDOWN) {
			failure = new IllegalStateException("Refused as if the context were stopped", ex);
		}
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
			case OPTIMISTIC -> sell(this.locks.withMode(LockMode.OPTIMISTIC), key, call);
			case FAIR -> sell(this.locks.withFair(true), key, call);
			case SHARED -> this.locks.withMode(LockMode.SHARED)
				.run(key, () -> call.underLock(() -> call.transaction(() -> this.readOnly.execute((status) -> {
					this.shop.look(key, key, call);
					call.finished();
					return key;
				}))));
			case MINIMUM_HOLD -> this.shop.sellAndStay(key, call);
			case BATCH -> this.shop.sellInBatch(key, call);
			case LOCKED_LISTENER -> this.shop.sellAndCall(key, call);
			case COMPLETION -> this.shop.sellAndComplete(key, call);
			case ENTITY -> this.shop.sellEntity(key, call);
			case ENTITY_IN_VIEW -> this.entities.inView(key, () -> {
				this.shop.sellEntity(key, call);
				return key;
			});
			case TWO_MANAGERS -> this.locks.run(key, () -> call.underLock(() -> {
				sellInTransaction(key, call);
				sellByOther(key, call);
			}));
			case OTHER_MANAGER -> this.transaction.executeWithoutResult((status) -> call.transaction(() -> {
				call.refused(() -> this.shop.sellByOther(key, call));
				return key;
			}));
			case BORROWED_LOOK, BORROWED_SALE, BORROWED_REFUSAL -> this.borrowing.sell(step, call);
			case INHERITED -> this.till.sell(key, call);
			case CLOSED_SCOPE -> closedScope(key, call);
			case CROSSED_SCOPES -> crossedScopes(key, call);
			case READ_ONLY_SALE -> this.shop.sellReadOnly(key, call);
			case AUDITED -> this.locks.run(key, () -> call.underLock(() -> {
				sellInTransaction(key, call);
				this.shop.sellPlainly(key, call);
			}));
			case LATE_SALE -> this.lateSales.sell(key, call);
			case TENANT -> this.shop.sellForTenant(key, step.think() % Tenants.NUMBER, call);
			case BATCH_STEP -> this.batchStep.executeWithoutResult((status) -> call.transaction(() -> {
				this.shop.sell(key, call);
				return key;
			}));
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

	private void sellByOther(String key, CallRecorder call) {
		call.transaction(() -> this.other.execute((status) -> {
			long version = this.otherAccounts.read(key);
			call.think();
			Touch touch = call.sell(key, key, version);
			this.otherAccounts.write(key, version + 1, touch.fencingToken(), String.valueOf(touch.sale()));
			call.finished();
			return key;
		}));
	}

	/**
	 * The lock has ended when the transaction commits, which is refused.
	 */
	private void closedScope(String key, CallRecorder call) {
		LockTemplate.Scope scope = this.locks.acquire(key);
		AtomicBoolean closed = new AtomicBoolean();
		try {
			sellAndClose(key, call, () -> {
				closed.set(true);
				scope.close();
			});
		}
		finally {
			if (!closed.get()) {
				scope.close();
			}
		}
	}

	/**
	 * What the inner scope has borrowed has ended when its transaction commits.
	 */
	@SuppressWarnings("try")
	private void crossedScopes(String key, CallRecorder call) {
		LockTemplate.Scope outer = this.locks.acquire(key);
		AtomicBoolean closed = new AtomicBoolean();
		try (LockTemplate.Scope inner = this.locks.acquire(key)) {
			sellAndClose(key, call, () -> {
				closed.set(true);
				outer.close();
			});
		}
		finally {
			if (!closed.get()) {
				outer.close();
			}
		}
	}

	private void sellAndClose(String key, CallRecorder call, Runnable close) {
		try {
			call.underLock(() -> call.transaction(() -> this.transaction.execute((status) -> {
				this.shop.sell(key, key, call, close);
				call.finished();
				return key;
			})));
		}
		catch (LockLostException ex) {
			throw new OrderRefusedException("the lock was given back");
		}
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
		this.locks.run(key, () -> call.underOuterLock(() -> this.locks.run(inner, () -> call.underLock(() -> {
			sellInTransaction(inner, call);
			sellInTransaction(key, call);
		}))));
	}

	private void interrupted(Step step, Runnable code) {
		if (step.isInterruptedLate()) {
			code.run();
			return;
		}
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
		while (!busy.isEmpty() && System.nanoTime() - started < FREE_TIME.toNanos()) {
			String key = busy.get(0);
			CallRecorder call = new CallRecorder(this.name + "-probe-" + this.probes++,
					new Step(Step.Kind.TEMPLATE, key, 0), this.node);
			Throwable failure = null;
			try {
				sell(patient, key, call);
				busy.remove(0);
			}
			catch (RuntimeException ex) {
				failure = ex;
			}
			this.journal.add(call.end(failure));
			if (failure != null) {
				rest();
			}
		}
		say("FREE " + (busy.isEmpty() ? TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - started) : -1));
	}

}
