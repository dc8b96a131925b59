package io.github.holdfast.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import org.springframework.context.ConfigurableApplicationContext;

/** A way to lock, with its defaults. */
public enum Contender {

	HOLDFAST_REDIS("Holdfast `redis`", Reach.ALL_JVMS, Store.REDIS, "holdfast.backend=redis",
			"holdfast.commit-guard=lease"),
	HOLDFAST_REDIS_FENCE("Holdfast `redis`, `fence`", Reach.TRANSACTIONS, Store.REDIS, "holdfast.backend=redis",
			"holdfast.commit-guard=fence", "holdfast.jdbc.initialize-schema=always"),
	HOLDFAST_REDISSON("Holdfast `redisson`", Reach.ALL_JVMS, Store.REDIS, "holdfast.backend=redisson",
			"holdfast.commit-guard=lease"),
	HOLDFAST_JDBC("Holdfast `jdbc`", Reach.ALL_JVMS, Store.MARIADB, "holdfast.backend=jdbc",
			"holdfast.jdbc.initialize-schema=always"),
	REDISSON("Redisson 4.7.0, `RLock`", Reach.ALL_JVMS, Store.REDIS, Clients::redisson),
	LOCK4J_REDISSON("Lock4j 2.2.7 on Redisson", Reach.ALL_JVMS, Store.REDIS, Clients::lock4jOnRedisson),
	LOCK4J_REDIS_TEMPLATE("Lock4j 2.2.7 on `RedisTemplate`", Reach.ALL_JVMS, Store.REDIS,
			Clients::lock4jOnRedisTemplate),
	SHEDLOCK("ShedLock 7.10.1, Redis, tried each ms", Reach.ALL_JVMS, Store.REDIS, Clients::shedLock),
	SPRING_INTEGRATION_REDIS("Spring Integration 7.0.5, Redis, pub/sub", Reach.ALL_JVMS, Store.REDIS,
			Clients::springIntegrationRedis),
	SPRING_INTEGRATION_REDIS_SPIN("Spring Integration 7.0.5, Redis, spin", Reach.ALL_JVMS, Store.REDIS,
			Clients::springIntegrationRedisSpin),
	SPRING_INTEGRATION_JDBC("Spring Integration 7.0.5, JDBC", Reach.ALL_JVMS, Store.MARIADB,
			Clients::springIntegrationJdbc),
	CURATOR("Curator 5.9.0, `InterProcessMutex`", Reach.ALL_JVMS, Store.ZOOKEEPER, Clients::curator),
	BARE_COMMANDS("bare `SET NX`, tried each ms", Reach.ALL_JVMS, Store.REDIS, Clients::bareCommands),
	BARE_COMMANDS_FENCED("bare `SET NX`, and the statements of a lock by hand", Reach.TRANSACTIONS, Store.REDIS,
			Clients::bareCommandsFenced),
	LOCK_SCRIPTS("what Holdfast `redis` sends, by hand", Reach.NOBODY, Store.REDIS, Clients::lockScripts),
	LOCK_STATEMENTS("what Holdfast `jdbc` sends, by hand", Reach.TRANSACTIONS, null, Clients::lockStatements),
	QUEUED_LOCK_STATEMENTS("what Holdfast `jdbc` sends, by hand, one waiter in the database", Reach.TRANSACTIONS, null,
			Clients::queuedLockStatements),
	SELECT_FOR_UPDATE("`SELECT … FOR UPDATE`, no lock", Reach.TRANSACTIONS, null, Clients::noLock),
	NO_LOCK("no lock", Reach.NOBODY, null, Clients::noLock),
	FAIR_REENTRANT_LOCK("fair `ReentrantLock`, in one JVM", Reach.ONE_JVM, null, Clients::fairReentrantLocks);

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

	public String title() {
		return this.title;
	}

	public Reach reach() {
		return this.reach;
	}

	public boolean isHoldfast() {
		return name().startsWith("HOLDFAST");
	}

	public Set<Store> stores() {
		return (this.store != null) ? Set.of(this.store) : Set.of();
	}

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

	/** Its client in an application that was started with it, for all threads. */
	public LockClient client(ConfigurableApplicationContext application) {
		return this.client.apply(application);
	}

	/** What a lock locks out. */
	public enum Reach {

		ALL_JVMS, ONE_JVM,
		/** Transactions, so that there must be one. */
		TRANSACTIONS,
		/** Nothing, for those who want different keys anyway. */
		NOBODY

	}

}
