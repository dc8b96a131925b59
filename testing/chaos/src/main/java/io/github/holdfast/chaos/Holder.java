package io.github.holdfast.chaos;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
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
import io.github.holdfast.LockMode;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.LockManager;
import io.github.holdfast.testsupport.DatabaseAccess;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.support.TransactionTemplate;

/** A node: runs its programs from {@code GO} to {@code STOP}, then probes the locks. */
final class Holder {

	static final Duration WAIT_TIME = Duration.ofSeconds(2);

	/** How long a pool lets callers wait for a connection. */
	static final Duration POOL_TIME = Duration.ofSeconds(3);

	/** How long it is tried to get the locks after the faults. */
	static final Duration FREE_TIME = Duration.ofSeconds(40);

	private static final Duration PROBE_TIME = Duration.ofSeconds(5);

	private final Place place;

	private final Plan plan;

	private final Journal journal;

	private final ConfigurableApplicationContext context;

	private final LockTemplate locks;

	private final Shop shop;

	private final TransactionTemplate transaction;

	private final ScheduledExecutorService interrupts = Executors.newSingleThreadScheduledExecutor();

	/** A process may be asked for them again. */
	private int probes;

	private volatile boolean stopped;

	private Holder(Place place, Plan plan, ConfigurableApplicationContext context) {
		this.place = place;
		this.plan = plan;
		this.journal = new Journal(Path.of(place.directory, place.name + ".journal"));
		this.context = context;
		this.locks = context.getBean(LockTemplate.class);
		this.shop = context.getBean(Shop.class);
		this.transaction = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
	}

	/** Waits for nodes to be, one after the other, as a process gets faster. */
	public static void main(String[] args) throws IOException {
		BufferedReader orders = new BufferedReader(new InputStreamReader(System.in));
		for (String order = orders.readLine(); order != null; order = orders.readLine()) {
			run(Journal.JSON.readValue(order, Place.class), orders);
		}
		System.exit(0);
	}

	private static void run(Place place, BufferedReader orders) {
		try {
			Plan plan = Plan.parse(Files.readString(Path.of(place.directory, Machine.PLAN)));
			try (ConfigurableApplicationContext context = start(plan, place.database, place.store)) {
				Holder holder = new Holder(place, plan, context);
				holder.obey(orders);
				holder.interrupts.shutdownNow();
			}
		}
		catch (Exception ex) {
			ex.printStackTrace();
			System.exit(1);
		}
		System.out.println("ENDED");
	}

	private static ConfigurableApplicationContext start(Plan plan, DatabaseAccess database, int store) {
		Target target = plan.target();
		// Where nothing fails, a machine that is busy with other things is no fault
		boolean patient = plan.faults().isEmpty();
		List<String> properties = new ArrayList<>(target.backend().properties());
		properties.addAll(List.of(target.level().property, "holdfast.lease-time=" + plan.leaseTime() + "ms",
				"holdfast.wait-time=" + WAIT_TIME.toMillis() + "ms", "spring.datasource.url=" + database.url(),
				"spring.datasource.username=" + database.user(), "spring.datasource.password=" + database.password(),
				"spring.datasource.hikari.connection-timeout=" + (patient ? 30_000 : POOL_TIME.toMillis()),
				"spring.datasource.hikari.auto-commit=" + plan.autoCommit(),
				"spring.datasource.hikari.transaction-isolation=" + target.isolation().poolSetting(),
				"spring.datasource.connection-fetch=" + (plan.lazy() ? "lazy" : "eager"),
				"spring.data.redis.port=" + store, "spring.data.redis.timeout=" + (patient ? "30s" : "3s"),
				"spring.config.name=node"));
		// Hikari does not know the errors of broken connections of H2
		System.setProperty("com.zaxxer.hikari.aliveBypassWindowMs", (target.database() == Database.H2) ? "0" : "500");
		if (target.isolation() != Isolation.SERIALIZABLE) {
			// Leaves a snapshot open in a pool that does not commit by itself
			properties.add("spring.datasource.hikari.connection-init-sql=SELECT max(version) FROM account");
		}
		if (target.database() == Database.CONNECTOR_J) {
			// It asks MariaDB for a table that only MySQL has
			properties.addAll(List.of("spring.jpa.database-platform=org.hibernate.dialect.MariaDBDialect",
					"spring.jpa.properties.hibernate.boot.allow_jdbc_metadata_access=false"));
		}
		SpringApplicationBuilder application = new SpringApplicationBuilder(NodeApplication.class);
		if (plan.needsEntities()) {
			application.sources(NodeApplication.WithEntities.class);
		}
		return application.web(WebApplicationType.NONE)
			.registerShutdownHook(false)
			.properties(properties.toArray(String[]::new))
			.run();
	}

	private void obey(BufferedReader orders) throws Exception {
		List<Thread> threads = new ArrayList<>();
		this.plan.programs().stream().filter((program) -> program.node() == this.place.node).forEach((program) -> {
			Thread thread = new Thread(() -> run(program), "program-" + program.thread());
			thread.setDaemon(true);
			threads.add(thread);
		});
		System.out.println("READY");
		for (String order = orders.readLine(); order != null; order = orders.readLine()) {
			switch (order) {
				case "GO" -> threads.forEach(Thread::start);
				case "STOP" -> this.stopped = true;
				case "JOIN" -> {
					for (Thread thread : threads) {
						thread.join();
					}
					System.out.println("JOINED");
				}
				case "PROBE" -> probe();
				case "REST" -> System.out.println("RESTS " + String.join(", ", leftovers()));
				case "END" -> {
					return;
				}
				default -> throw new IllegalArgumentException(order);
			}
		}
	}

	/** What is left when no call is. */
	private List<String> leftovers() throws SQLException {
		List<String> left = new ArrayList<>();
		HikariDataSource pool = this.context.getBean(DataSource.class).unwrap(HikariDataSource.class);
		int active = pool.getHikariPoolMXBean().getActiveConnections();
		if (active > 0) {
			left.add(active + " connections");
		}
		this.context.getBean(LockManager.class)
			.snapshots()
			.forEach((lock) -> left.add("the lock of " + lock.key() + " on " + lock.thread()));
		return left;
	}

	private void run(Plan.Program program) {
		for (int i = 0; !this.stopped; i++) {
			Step step = this.plan.possible(program.steps().get(i % program.steps().size()));
			CallRecorder call = new CallRecorder(this.place.name + "-" + program.thread() + "-" + i, step,
					this.place.node);
			record(call, () -> perform(step, call));
		}
	}

	/** Makes a call and writes it down. Callers rest before they try again. */
	private boolean record(CallRecorder call, Runnable code) {
		Throwable failure = null;
		try {
			code.run();
		}
		catch (Throwable ex) {
			failure = ex;
		}
		Thread.interrupted();
		this.journal.add(call.end(failure));
		if (failure != null) {
			try {
				TimeUnit.MILLISECONDS.sleep(50);
			}
			catch (InterruptedException ex) {
				// Meant for the call that has ended
			}
		}
		return failure == null;
	}

	private void perform(Step step, CallRecorder call) {
		String key = step.key();
		switch (step.kind()) {
			case DECLARATIVE -> sell(key, call);
			case COMMITTED -> this.shop.sellCommitted(key, call);
			case REPEATABLE -> this.shop.sellRepeatable(key, call);
			case SERIALIZABLE -> this.shop.sellSerializable(key, call);
			case TEMPLATE -> sell(this.locks, key, call);
			case TWO_COMMITS -> this.locks.run(key, () -> call.underLock(() -> sellTwice(step, call)));
			case FACADE -> this.locks.run(key, () -> call.underLock(() -> readAndSell(step, call)));
			case REQUIRES_NEW -> this.transaction
				.executeWithoutResult((status) -> call.transaction(() -> this.shop.sellApart(key, call)));
			case INNER -> either(step, call, () -> this.shop.sellInside(key, call));
			case DEADLOCK -> either(step, call, () -> this.shop.sellAcross(key, call));
			case SAVEPOINT -> either(step, call, () -> this.shop.sellWithSavepoint(key, call));
			case REENTRANT -> this.locks.run(key, () -> call.transaction(() -> sell(key, call)));
			case NESTED -> nested(key, call);
			case SEVERAL_KEYS -> this.shop.sellAll(PlanSource.KEYS, call);
			case OPTIMISTIC -> sell(this.locks.withMode(LockMode.OPTIMISTIC), key, call);
			case EXCEPTION -> either(step, call, () -> {
				this.shop.sell(key, key, call);
				throw new Ending.RefusedException("refused");
			});
			case INTERRUPT -> interrupted(step, () -> sell(key, call));
			case READ_ONLY -> this.shop.look(key, call);
			case ENTITY -> this.shop.sellEntity(key, call);
			case ENTITY_IN_VIEW ->
				this.context.getBean(Entities.class).inView(key, () -> this.shop.sellEntity(key, call));
			case LISTENER -> this.context.getBean(EarlyReader.class)
				.during(call, () -> either(step, call, () -> this.shop.sellWhatWasRead(key, call)));
		}
	}

	private void sell(String key, CallRecorder call) {
		this.shop.run(key, call, () -> this.shop.sell(key, key, call));
	}

	private void sell(LockTemplate template, String key, CallRecorder call) {
		template.run(key, () -> call.underLock(() -> sellInTransaction(key, call)));
	}

	private void sellInTransaction(String key, CallRecorder call) {
		inTransaction(call, () -> this.shop.sell(key, key, call));
	}

	private void inTransaction(CallRecorder call, Runnable body) {
		call.transaction(() -> this.transaction.executeWithoutResult((status) -> {
			body.run();
			call.finished();
		}));
	}

	/** Runs a body in a transaction: in an annotated method, or under a template. */
	private void either(Step step, CallRecorder call, Runnable body) {
		if (step.isVariant()) {
			this.locks.run(step.key(), () -> call.underLock(() -> inTransaction(call, body)));
		}
		else {
			this.shop.run(step.key(), call, body);
		}
	}

	private void sellTwice(Step step, CallRecorder call) {
		try {
			sellInTransaction(step.key(), call);
		}
		catch (DataAccessException | TransactionException ex) {
			if (!step.isVariant()) {
				throw ex;
			}
		}
		sellInTransaction(step.key(), call);
	}

	/** Reads with or without a transaction, and writes in another one. */
	private void readAndSell(Step step, CallRecorder call) {
		String key = step.key();
		Accounts accounts = this.context.getBean(Accounts.class);
		TransactionTemplate readOnly = new TransactionTemplate(this.transaction.getTransactionManager());
		readOnly.setReadOnly(true);
		Long version = call.reading(() -> step.isVariant() ? Long.valueOf(accounts.read(key))
				: readOnly.execute((status) -> accounts.read(key)));
		call.think();
		inTransaction(call, () -> this.shop.write(key, key, version, call));
	}

	/** Takes this lock and the next one, in the order in which all calls take them. */
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
		if (step.isVariant()) {
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

	/** Takes each lock once, and sells under it. Says how long that took from now on. */
	private void probe() {
		long started = System.nanoTime();
		LockTemplate patient = this.locks.withWaitTime(PROBE_TIME);
		List<String> busy = new ArrayList<>(PlanSource.KEYS);
		while (!busy.isEmpty() && System.nanoTime() - started < FREE_TIME.toNanos()) {
			String key = busy.get(0);
			CallRecorder call = new CallRecorder(this.place.name + "-probe-" + this.probes++,
					new Step(Step.Kind.TEMPLATE, key, 0), this.place.node);
			if (record(call, () -> sell(patient, key, call))) {
				busy.remove(0);
			}
		}
		System.out
			.println("FREE " + (busy.isEmpty() ? TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - started) : -1));
	}

	/** The order to be a node: name, number, folder and servers. */
	record Place(String name, int node, String directory, DatabaseAccess database, int store) {

	}

}
