package io.github.holdfast.benchmarks.contender;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import org.springframework.context.ConfigurableApplicationContext;

import io.github.holdfast.benchmarks.BenchmarkApplication;
import io.github.holdfast.benchmarks.StorelessTransactionManager;

/**
 * A way to lock, with its defaults.
 */
public enum Contender {

	/** Annotated methods, on the backend {@code redis}. */
	HOLDFAST_REDIS("Holdfast `redis`", HoldfastCalls.class, Reach.ALL_JVMS, Set.of(Store.REDIS),
			"holdfast.backend=redis", "holdfast.commit-guard=lease"),

	/** The same without passing locks on inside of the JVM. */
	HOLDFAST_REDIS_NO_HANDOVER("Holdfast `redis`, no handover", HoldfastCalls.class, Reach.ALL_JVMS,
			Set.of(Store.REDIS), "holdfast.backend=redis", "holdfast.commit-guard=lease", "holdfast.handover-limit=0s"),

	/** A {@code LockTemplate}, on the backend {@code redis}. */
	HOLDFAST_REDIS_TEMPLATE("Holdfast `redis`, `LockTemplate`", HoldfastTemplate.class, Reach.ALL_JVMS,
			Set.of(Store.REDIS), "holdfast.backend=redis", "holdfast.commit-guard=lease"),

	/** Annotated methods whose commits are fenced by the database. */
	HOLDFAST_REDIS_FENCE("Holdfast `redis`, `fence`", HoldfastCalls.class, Reach.TRANSACTIONS, Set.of(Store.REDIS),
			"holdfast.backend=redis", "holdfast.commit-guard=fence", "holdfast.jdbc.initialize-schema=always"),

	/** Annotated methods, on the backend {@code redisson}. */
	HOLDFAST_REDISSON("Holdfast `redisson`", List.of(HoldfastCalls.class, RedissonConfiguration.class), Reach.ALL_JVMS,
			Set.of(Store.REDIS), "holdfast.backend=redisson", "holdfast.commit-guard=lease"),

	/** The same with commits that are fenced by the database. */
	HOLDFAST_REDISSON_FENCE("Holdfast `redisson`, `fence`", List.of(HoldfastCalls.class, RedissonConfiguration.class),
			Reach.TRANSACTIONS, Set.of(Store.REDIS), "holdfast.backend=redisson", "holdfast.commit-guard=fence",
			"holdfast.jdbc.initialize-schema=always"),

	/** Annotated methods, whose transactions lock the row of a table themselves. */
	HOLDFAST_JDBC("Holdfast `jdbc`", HoldfastCalls.class, Reach.ALL_JVMS, Set.of(Store.MARIADB),
			"holdfast.backend=jdbc", "holdfast.jdbc.initialize-schema=always"),

	/** Annotated methods, on a table. Their commits are fenced by the database. */
	HOLDFAST_JDBC_LEASE("Holdfast `jdbc`, leases", HoldfastCalls.class, Reach.ALL_JVMS, Set.of(Store.MARIADB),
			"holdfast.backend=jdbc", "holdfast.jdbc.mode=lease", "holdfast.jdbc.initialize-schema=always"),

	/** Annotated methods, on the backend {@code zookeeper}. */
	HOLDFAST_ZOOKEEPER("Holdfast `zookeeper`", List.of(HoldfastCalls.class, ZooKeeperConfiguration.class),
			Reach.ALL_JVMS, Set.of(Store.ZOOKEEPER), "holdfast.backend=zookeeper", "holdfast.commit-guard=lease"),

	/** Redisson's {@code RLock}. */
	REDISSON("Redisson 4.7.0, `RLock`", RedissonLockClient.class, Reach.ALL_JVMS, Set.of(Store.REDIS)),

	/** Lock4j on Redisson. */
	LOCK4J_REDISSON("Lock4j 2.2.7 on Redisson", Lock4jLockClient.OnRedisson.class, Reach.ALL_JVMS, Set.of(Store.REDIS)),

	/** Lock4j on a {@code RedisTemplate}. */
	LOCK4J_REDIS_TEMPLATE("Lock4j 2.2.7 on `RedisTemplate`", Lock4jLockClient.OnRedisTemplate.class, Reach.ALL_JVMS,
			Set.of(Store.REDIS)),

	/** ShedLock in Redis. */
	SHEDLOCK("ShedLock 7.10.1, Redis, tried each ms", ShedLockClient.class, Reach.ALL_JVMS, Set.of(Store.REDIS)),

	/** Spring Integration's registry in Redis, woken by messages. */
	SPRING_INTEGRATION_REDIS("Spring Integration 7.0.5, Redis, pub/sub",
			List.of(SpringIntegrationLockClient.class, SpringIntegrationLockClient.PubSub.class), Reach.ALL_JVMS,
			Set.of(Store.REDIS)),

	/** Spring Integration's registry in Redis, which tries again and again. */
	SPRING_INTEGRATION_REDIS_SPIN("Spring Integration 7.0.5, Redis, spin",
			List.of(SpringIntegrationLockClient.class, SpringIntegrationLockClient.Spin.class), Reach.ALL_JVMS,
			Set.of(Store.REDIS)),

	/** Spring Integration's registry in a table. */
	SPRING_INTEGRATION_JDBC("Spring Integration 7.0.5, JDBC",
			List.of(SpringIntegrationLockClient.class, SpringIntegrationLockClient.Jdbc.class), Reach.ALL_JVMS,
			Set.of(Store.MARIADB)),

	/** Curator's {@code InterProcessMutex}. */
	CURATOR("Curator 5.9.0, `InterProcessMutex`", CuratorLockClient.class, Reach.ALL_JVMS, Set.of(Store.ZOOKEEPER)),

	/** {@code SET NX} and a script that compares and deletes, on Lettuce. */
	BARE_COMMANDS("bare `SET NX`, tried each ms", BareLockClient.class, Reach.ALL_JVMS, Set.of(Store.REDIS)),

	/** The bare commands, and an update of a row by hand. */
	BARE_COMMANDS_FENCED("bare `SET NX`, and an `UPDATE` by hand", BareFencedLockClient.class, Reach.TRANSACTIONS,
			Set.of(Store.REDIS)),

	/** No lock but an update of a row by hand. */
	ROW_UPDATE("`UPDATE` by hand, no lock", RowUpdateLockClient.class, Reach.TRANSACTIONS, Set.of()),

	/** The statements of Holdfast, by hand. */
	LOCK_STATEMENTS("what Holdfast `jdbc` sends, by hand", HoldfastRowsLockClient.class, Reach.TRANSACTIONS, Set.of()),

	/** No lock but {@code SELECT … FOR UPDATE} in the transaction. */
	SELECT_FOR_UPDATE("`SELECT … FOR UPDATE`, no lock", RowLockClient.class, Reach.TRANSACTIONS, Set.of()),

	/** No lock at all. */
	NO_LOCK("no lock", RowLockClient.class, Reach.NOBODY, Set.of()),

	/** A fair lock inside of the JVM. */
	FAIR_REENTRANT_LOCK("fair `ReentrantLock`, in one JVM", ReentrantLockClient.Fair.class, Reach.ONE_JVM, Set.of()),

	/** An unfair lock inside of the JVM. */
	UNFAIR_REENTRANT_LOCK("unfair `ReentrantLock`, in one JVM", ReentrantLockClient.Unfair.class, Reach.ONE_JVM,
			Set.of());

	private static final String HOLDFAST = "io.github.holdfast.autoconfigure.HoldfastAutoConfiguration";

	private final String title;

	private final List<Class<?>> beans;

	private final Reach reach;

	private final Set<Store> stores;

	private final List<String> properties;

	Contender(String title, Class<?> beans, Reach reach, Set<Store> stores, String... properties) {
		this(title, List.of(beans), reach, stores, properties);
	}

	Contender(String title, List<Class<?>> beans, Reach reach, Set<Store> stores, String... properties) {
		this.title = title;
		this.beans = beans;
		this.reach = reach;
		this.stores = stores;
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
		return this.stores;
	}

	/**
	 * Start an application with it.
	 * @param transactions whether there are transactions in a database, rather than such
	 * that do no I/O
	 * @param stores where the servers are
	 * @return the application, which has one {@link LockClient}
	 */
	public ConfigurableApplicationContext start(boolean transactions, List<String> stores) {
		List<Class<?>> beans = new ArrayList<>(this.beans);
		beans.add(Transactions.class);
		List<String> properties = new ArrayList<>(stores);
		if (transactions || this.stores.contains(Store.MARIADB)) {
			beans.add(Database.class);
		}
		if (!transactions) {
			beans.add(StorelessTransactionManager.class);
			properties.add("holdfast.transaction-managers.storelessTransactionManager=lease");
		}
		properties.addAll(this.properties);
		properties.add("holdfast.wait-time=1m");
		properties.add("spring.datasource.hikari.maximum-pool-size=20");
		properties.add("spring.autoconfigure.exclude=" + (isHoldfast() ? "" : HOLDFAST));
		return BenchmarkApplication.start(beans, properties);
	}

	/**
	 * Those whose locks reach far enough.
	 * @param reaches the reaches that do
	 * @return the contenders
	 */
	public static Set<Contender> within(Set<Reach> reaches) {
		Set<Contender> contenders = EnumSet.allOf(Contender.class);
		contenders.removeIf((contender) -> !reaches.contains(contender.reach));
		return contenders;
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
