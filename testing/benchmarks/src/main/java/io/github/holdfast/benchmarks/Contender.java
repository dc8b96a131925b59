package io.github.holdfast.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import org.springframework.context.ConfigurableApplicationContext;

/**
 * A way to lock, with its defaults.
 */
public enum Contender {

	/** Annotated methods, on the backend {@code redis}. */
	HOLDFAST_REDIS("Holdfast `redis`", Reach.ALL_JVMS, Store.REDIS, "holdfast.backend=redis",
			"holdfast.commit-guard=lease"),
	/** The same without passing locks on inside of the JVM. */
	HOLDFAST_REDIS_NO_HANDOVER("Holdfast `redis`, no handover", Reach.ALL_JVMS, Store.REDIS, "holdfast.backend=redis",
			"holdfast.commit-guard=lease", "holdfast.handover-limit=0s"),
	/** A {@code LockTemplate}, on the backend {@code redis}. */
	HOLDFAST_REDIS_TEMPLATE("Holdfast `redis`, `LockTemplate`", Reach.ALL_JVMS, Store.REDIS, Clients::holdfastTemplate,
			"holdfast.backend=redis", "holdfast.commit-guard=lease"),
	/** Annotated methods whose commits are fenced by the database. */
	HOLDFAST_REDIS_FENCE("Holdfast `redis`, `fence`", Reach.TRANSACTIONS, Store.REDIS, "holdfast.backend=redis",
			"holdfast.commit-guard=fence", "holdfast.jdbc.initialize-schema=always"),
	/** Annotated methods, on the backend {@code redisson}. */
	HOLDFAST_REDISSON("Holdfast `redisson`", Reach.ALL_JVMS, Store.REDIS, "holdfast.backend=redisson",
			"holdfast.commit-guard=lease"),
	/** The same with commits that are fenced by the database. */
	HOLDFAST_REDISSON_FENCE("Holdfast `redisson`, `fence`", Reach.TRANSACTIONS, Store.REDIS,
			"holdfast.backend=redisson", "holdfast.commit-guard=fence", "holdfast.jdbc.initialize-schema=always"),
	/** Annotated methods, whose transactions lock the row of a table themselves. */
	HOLDFAST_JDBC("Holdfast `jdbc`", Reach.ALL_JVMS, Store.MARIADB, "holdfast.backend=jdbc",
			"holdfast.jdbc.initialize-schema=always"),
	/** Annotated methods, on a table. Their commits are fenced by the database. */
	HOLDFAST_JDBC_LEASE("Holdfast `jdbc`, leases", Reach.ALL_JVMS, Store.MARIADB, "holdfast.backend=jdbc",
			"holdfast.jdbc.mode=lease", "holdfast.jdbc.initialize-schema=always"),
	/** Annotated methods, on the backend {@code zookeeper}. */
	HOLDFAST_ZOOKEEPER("Holdfast `zookeeper`", Reach.ALL_JVMS, Store.ZOOKEEPER, "holdfast.backend=zookeeper",
			"holdfast.commit-guard=lease"),
	/** Redisson's {@code RLock}. */
	REDISSON("Redisson 4.7.0, `RLock`", Reach.ALL_JVMS, Store.REDIS, Clients::redisson),
	/** Lock4j on Redisson. */
	LOCK4J_REDISSON("Lock4j 2.2.7 on Redisson", Reach.ALL_JVMS, Store.REDIS, Clients::lock4jOnRedisson),
	/** Lock4j on a {@code RedisTemplate}. */
	LOCK4J_REDIS_TEMPLATE("Lock4j 2.2.7 on `RedisTemplate`", Reach.ALL_JVMS, Store.REDIS,
			Clients::lock4jOnRedisTemplate),
	/** ShedLock in Redis. */
	SHEDLOCK("ShedLock 7.10.1, Redis, tried each ms", Reach.ALL_JVMS, Store.REDIS, Clients::shedLock),
	/** Spring Integration's registry in Redis, woken by messages. */
	SPRING_INTEGRATION_REDIS("Spring Integration 7.0.5, Redis, pub/sub", Reach.ALL_JVMS, Store.REDIS,
			Clients::springIntegrationRedis),
	/** Spring Integration's registry in Redis, which tries again and again. */
	SPRING_INTEGRATION_REDIS_SPIN("Spring Integration 7.0.5, Redis, spin", Reach.ALL_JVMS, Store.REDIS,
			Clients::springIntegrationRedisSpin),
	/** Spring Integration's registry in a table. */
	SPRING_INTEGRATION_JDBC("Spring Integration 7.0.5, JDBC", Reach.ALL_JVMS, Store.MARIADB,
			Clients::springIntegrationJdbc),
	/** Curator's {@code InterProcessMutex}. */
	CURATOR("Curator 5.9.0, `InterProcessMutex`", Reach.ALL_JVMS, Store.ZOOKEEPER, Clients::curator),
	/** {@code SET NX} and a script that compares and deletes, on Lettuce. */
	BARE_COMMANDS("bare `SET NX`, tried each ms", Reach.ALL_JVMS, Store.REDIS, Clients::bareCommands),
	/** The bare commands, and an update of a row by hand: what a fence costs at least. */
	BARE_COMMANDS_FENCED("bare `SET NX`, and an `UPDATE` by hand", Reach.TRANSACTIONS, Store.REDIS,
			Clients::bareCommandsFenced),
	/** No lock but an update of a row by hand. */
	ROW_UPDATE("`UPDATE` by hand, no lock", Reach.TRANSACTIONS, null, Clients::rowUpdate),
	/** The statements of Holdfast, by hand: how fast it could be at most. */
	LOCK_STATEMENTS("what Holdfast `jdbc` sends, by hand", Reach.TRANSACTIONS, null, Clients::lockStatements),
	/** No lock but {@code SELECT … FOR UPDATE} in the transaction. */
	SELECT_FOR_UPDATE("`SELECT … FOR UPDATE`, no lock", Reach.TRANSACTIONS, null, Clients::noLock),
	/** No lock at all. */
	NO_LOCK("no lock", Reach.NOBODY, null, Clients::noLock),
	/** A fair lock inside of the JVM. */
	FAIR_REENTRANT_LOCK("fair `ReentrantLock`, in one JVM", Reach.ONE_JVM, null, (app) -> Clients.reentrantLocks(true)),
	/** An unfair lock inside of the JVM. */
	UNFAIR_REENTRANT_LOCK("unfair `ReentrantLock`, in one JVM", Reach.ONE_JVM, null,
			(app) -> Clients.reentrantLocks(false));

	private final String title;

	private final Reach reach;

	private final @Nullable Store store;

	private final Function<ConfigurableApplicationContext, LockClient> client;

	private final List<String> properties;

	Contender(String title, Reach reach, Store store, String... properties) {
		this(title, reach, store, (application) -> application.getBean(HoldfastCalls.class), properties);
	}

	Contender(String title, Reach reach, @Nullable Store store,
			Function<ConfigurableApplicationContext, LockClient> client, String... properties) {
		this.title = title;
		this.reach = reach;
		this.store = store;
		this.client = client;
		this.properties = List.of(properties);
	}

	/**
	 * How it is called in tables, in Markdown.
	 * @return the title
	 */
	public String title() {
		return this.title;
	}

	/**
	 * What it locks out.
	 * @return its reach
	 */
	public Reach reach() {
		return this.reach;
	}

	/**
	 * Whether it is ours.
	 * @return whether it is Holdfast
	 */
	public boolean isHoldfast() {
		return name().startsWith("HOLDFAST");
	}

	/**
	 * Where it keeps its locks.
	 * @return the servers it needs
	 */
	public Set<Store> stores() {
		return (this.store != null) ? Set.of(this.store) : Set.of();
	}

	/**
	 * Start an application with it.
	 * @param transactions whether there are transactions in a database, rather than such
	 * that do no I/O
	 * @param stores where the servers are
	 * @return the application
	 */
	public ConfigurableApplicationContext start(boolean transactions, List<String> stores) {
		List<Class<?>> beans = new ArrayList<>(List.of(Clients.class, Transactions.class));
		List<String> properties = new ArrayList<>(stores);
		if (isHoldfast()) {
			beans.add(HoldfastCalls.class);
		}
		if (transactions || this.store == Store.MARIADB) {
			beans.add(BenchmarkApplication.Database.class);
		}
		if (!transactions) {
			beans.add(StorelessTransactionManager.class);
			properties.add("holdfast.transaction-managers.storelessTransactionManager=lease");
		}
		properties.addAll(this.properties);
		properties.add("holdfast.wait-time=1m");
		properties.add("spring.datasource.hikari.maximum-pool-size=20");
		return BenchmarkApplication.start(isHoldfast(), beans, properties);
	}

	/**
	 * Its client in an application that was started with it, for all threads.
	 * @param application the application
	 * @return a new client
	 */
	public LockClient client(ConfigurableApplicationContext application) {
		return this.client.apply(application);
	}

	/**
	 * What a lock locks out.
	 */
	public enum Reach {

		/** Threads of all JVMs. */
		ALL_JVMS,
		/** Threads of one JVM. */
		ONE_JVM,
		/** Transactions, so that there must be one. */
		TRANSACTIONS,
		/** Nothing, for those who want different keys anyway. */
		NOBODY

	}

}
