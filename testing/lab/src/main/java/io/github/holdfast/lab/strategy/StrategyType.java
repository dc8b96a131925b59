package io.github.holdfast.lab.strategy;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * All strategies, with what is said about them.
 */
public enum StrategyType {

	/** {@link MemoryOverwrite}. */
	MEMORY_OVERWRITE("memory-overwrite", Group.WRONG, MemoryOverwrite.class, "Check in memory, then overwrite",
			"Reads the stock, checks it in memory, and writes the new value, all in one transaction.",
			"Two transactions read the same value. The later one overwrites what the earlier one has written."),

	/** {@link MemoryDecrement}. */
	MEMORY_DECREMENT("memory-decrement", Group.WRONG, MemoryDecrement.class, "Check in memory, then subtract",
			"Reads the stock, checks it in memory, and lets the database subtract.",
			"Nothing is overwritten, but several transactions pass the check before one of them subtracts. The stock goes below zero."),

	/** {@link SynchronizedTransactional}. */
	SYNCHRONIZED_TRANSACTIONAL("synchronized-transactional", Group.WRONG, SynchronizedTransactional.class,
			"synchronized on the transactional method", "Only one thread of the node is in the method at a time.",
			"The commit comes after the method, outside of the monitor. The next thread reads what is not committed yet, and another node has a monitor of its own."),

	/** {@link RedisInsideTransaction}. */
	REDIS_INSIDE_TRANSACTION("redis-inside-transaction", Group.WRONG, RedisInsideTransaction.class,
			"A Redis lock inside the transaction",
			"Takes a lock within the transactional method, and frees it before the method ends.",
			"The lock is free before the commit. The next holder reads the old value."),

	/** {@link SetnxNoExpiry}. */
	SETNX_NO_EXPIRY("setnx-no-expiry", Group.WRONG, SetnxNoExpiry.class, "SET NX without expiry",
			"A key in Redis is the lock. Whoever sets it deletes it afterwards.",
			"If a node dies while it holds the lock, the key stays, and everybody waits for ever."),

	/** {@link SetnxThenExpire}. */
	SETNX_THEN_EXPIRE("setnx-then-expire", Group.WRONG, SetnxThenExpire.class, "SET NX, then EXPIRE",
			"A key in Redis is the lock, and a second command gives it an expiry.",
			"If a node dies between the two commands, the key stays, and everybody waits for ever."),

	/** {@link DeleteWithoutOwner}. */
	DELETE_WITHOUT_OWNER("delete-without-owner", Group.WRONG, DeleteWithoutOwner.class,
			"Delete without asking whose it is",
			"A key in Redis with an expiry is the lock. Whoever has finished deletes it.",
			"One who takes longer than the expiry deletes the lock of its successor. From then on nobody is alone."),

	/** {@link GetThenDel}. */
	GET_THEN_DEL("get-then-del", Group.WRONG, GetThenDel.class, "GET says mine, then DEL",
			"A key in Redis with an owner and an expiry. Its owner reads it, and deletes it if it is still its own.",
			"What expires between the two commands is the lock of somebody else when it is deleted."),

	/** {@link UnlockUnlocked}. */
	UNLOCK_UNLOCKED("unlock-unlocked", Group.WRONG, UnlockUnlocked.class, "Unlock in finally, locked or not",
			"The lock is given back in finally, by a script that is told the owner that was just read.",
			"Whoever did not get the lock gives back that of its holder. From then on nobody is alone."),

	/** {@link ExpiryInJava}. */
	EXPIRY_IN_JAVA("expiry-in-java", Group.WRONG, ExpiryInJava.class, "Expiry checked in Java, DELETE by name",
			"A row with an expiry is the lock. Whoever finds it expired deletes it by its name, and inserts its own.",
			"Between the look and the DELETE the row may have become that of the next holder."),

	/** {@link InsertLockCleaner}. */
	INSERT_LOCK_CLEANER("insert-lock-cleaner", Group.WRONG, InsertLockCleaner.class, "Insert a row, and a cleaning job",
			"Whoever can insert the row has the lock. A job deletes rows that are too old.",
			"The job cannot tell the slow from the dead. The next holder comes in while the first one works."),

	/** {@link LockRowInTransaction}. */
	LOCK_ROW_IN_TRANSACTION("lock-row-in-transaction", Group.WRONG, LockRowInTransaction.class,
			"A lock row within the same transaction",
			"The transaction looks for the row of the lock, inserts it with the name of its thread, and deletes it before the commit.",
			"Nobody else sees the row. Who has looked for it then reads the stock as it was at that time."),

	/** {@link TransactionLeftOpen}. */
	TRANSACTION_LEFT_OPEN("transaction-left-open", Group.WRONG, TransactionLeftOpen.class,
			"A transaction that is left open", "Begins the transaction and commits it by hand, without try and catch.",
			"What throws before commit(status) leaves the transaction open: it keeps its connection and its row, and all others wait."),

	/** {@link TwoWaits}. */
	TWO_WAITS("two-waits", Group.WRONG, TwoWaits.class, "Two waits, then give up",
			"Inserts a row as its lock. Whoever has found it there three times, with two short waits between, gives up.",
			"Nothing is sold twice, but orders are turned away while there is stock for them."),

	/** {@link RedisStock}. */
	REDIS_STOCK("redis-stock", Group.WRONG, RedisStock.class, "The stock in Redis, then the database",
			"DECR in Redis decides, and the database is told afterwards.",
			"Two stores disagree as soon as one of them forgets or a node dies, and no lock in the database protects them."),

	/** {@link CopiedAspect}. */
	COPIED_ASPECT("copied-aspect", Group.WRONG, CopiedAspect.class, "The copied aspect",
			"An aspect takes a lock of Redisson with a fixed lease, and runs the method in a new transaction.",
			"A caller with a transaction needs a second connection. As many callers as connections wait for each other. And the lease ends in the middle of a slow transaction."),

	/** {@link SynchronizedCaller}. */
	SYNCHRONIZED_CALLER("synchronized-caller", Group.ONE_NODE, SynchronizedCaller.class,
			"synchronized around the transaction",
			"The caller of the transactional method is synchronized, so the commit is inside.",
			"Another node has a monitor of its own."),

	/** {@link ReentrantLockCaller}. */
	REENTRANT_LOCK("reentrant-lock", Group.ONE_NODE, ReentrantLockCaller.class, "ReentrantLock around the transaction",
			"A lock of the JVM with a time-out, around a programmatic transaction.",
			"Another node has a lock of its own."),

	/** {@link ForUpdate}. */
	FOR_UPDATE("for-update", Group.DATABASE, ForUpdate.class, "SELECT … FOR UPDATE",
			"The database locks the row when it is read, until the transaction ends.",
			"Each waiter keeps a connection. It needs a row that exists already, in one database. Without a unique key that finds the row, it locks others and the gaps between them, too."),

	/** {@link LockTable}. */
	LOCK_TABLE("lock-table", Group.DATABASE, LockTable.class, "A table of locks, FOR UPDATE",
			"A row for each lock is inserted when it is missing, and locked by the transaction that changes the stock.",
			"Each waiter keeps a connection, and rows of locks stay behind."),

	/** {@link OneLockForAll}. */
	ONE_LOCK_FOR_ALL("one-lock-for-all", Group.DATABASE, OneLockForAll.class, "One lock for all stock",
			"A single row is locked by each transaction, whatever it sells.",
			"Orders for different things wait for each other. With ten SKUs, a lock for each lets ten of them work at once."),

	/** {@link InsertLock}. */
	INSERT_LOCK("insert-lock", Group.DATABASE, InsertLock.class, "Insert a row, with an expiry",
			"Whoever can insert the row has the lock. The transaction that changes the stock also deletes the row, if it is still its own.",
			"Waiters ask again and again, and the database has to resolve deadlocks between them. If a node dies, others wait for the expiry. Waiting by recursion overflows the stack, and swallowing Throwable takes each error for a held lock."),

	/** {@link Optimistic}. */
	OPTIMISTIC("optimistic", Group.DATABASE, Optimistic.class, "A version, without retry",
			"Writes only if the version is still the one that was read. It only grows: of the stock itself, 40, 39 and 40 again would not be noticed (ABA).",
			"Whoever was overtaken gets an error, so under load most orders fail although there is stock."),

	/** {@link OptimisticRetry}. */
	OPTIMISTIC_RETRY("optimistic-retry", Group.DATABASE, OptimisticRetry.class, "A version, with retry",
			"Writes only if the version is still the one that was read, and tries again otherwise.",
			"Under load most of the work is done in vain, and there is no order among those who wait."),

	/** {@link ConditionalUpdate}. */
	CONDITIONAL_UPDATE("conditional-update", Group.DATABASE, ConditionalUpdate.class, "UPDATE … WHERE available >= n",
			"Checks and subtracts in one statement.", "Only what fits into one statement can be checked."),

	/** {@link RedisPxLua}. */
	REDIS_PX_LUA("redis-px-lua", Group.UNTIL_PAUSE, RedisPxLua.class, "SET NX PX, and a script to release",
			"A key in Redis with an owner and an expiry, which only its owner deletes.",
			"A pause longer than the expiry: the next holder gets the lock, and the first one commits all the same."),

	/** {@link RedissonWatchdog}. */
	REDISSON_WATCHDOG("redisson-watchdog", Group.UNTIL_PAUSE, RedissonWatchdog.class, "Redisson with watchdog",
			"A lock of Redisson, which is renewed as long as the JVM runs.",
			"The watchdog stands still with the JVM. After the pause, the first holder commits all the same."),

	/** {@link Redlock}. */
	REDLOCK("redlock", Group.UNTIL_PAUSE, Redlock.class, "Redlock on three servers",
			"Two of three servers of Redis must grant the lock.",
			"One server may be down, but none may forget. After a pause, the first holder commits all the same."),

	/** {@link CuratorMutex}. */
	CURATOR_MUTEX("curator-mutex", Group.UNTIL_PAUSE, CuratorMutex.class, "Curator's InterProcessMutex",
			"A lock of ZooKeeper, which is there as long as the session of its holder.",
			"The session ends in a long pause. After it, the first holder commits all the same."),

	/** {@link Holdfast}. */
	HOLDFAST_JDBC("holdfast-jdbc", Group.HOLDFAST, Holdfast.class, "Holdfast, jdbc",
			"The transaction locks the row of its lock first; its COMMIT is the release.",
			"One waiting order per node keeps a connection. While a holder is frozen, all orders for its stock wait.",
			"holdfast.backend=jdbc", "holdfast.jdbc.mode=transaction", "holdfast.commit-guard=fence"),

	/** {@link Holdfast}. */
	HOLDFAST_JDBC_FENCE("holdfast-jdbc-fence", Group.HOLDFAST, Holdfast.class, "Holdfast, jdbc leases, fence",
			"The locks are rows of the database with leases. The database decides at each commit.",
			"A lock is a row that is written and committed before the work.", "holdfast.backend=jdbc",
			"holdfast.jdbc.mode=lease", "holdfast.commit-guard=fence"),

	/** {@link Holdfast}. */
	HOLDFAST_JDBC_LEASE("holdfast-jdbc-lease", Group.HOLDFAST, Holdfast.class, "Holdfast, jdbc leases, lease",
			"The locks are rows of the database with leases. The clock of the JVM decides at the commit.",
			"A pause between the look at the clock and the commit.", "holdfast.backend=jdbc",
			"holdfast.jdbc.mode=lease", "holdfast.commit-guard=lease"),

	/** {@link Holdfast}. */
	HOLDFAST_REDIS_FENCE("holdfast-redis-fence", Group.HOLDFAST, Holdfast.class, "Holdfast, redis, fence",
			"The locks are keys in Redis. The database decides at each commit.",
			"One more statement in each transaction.", "holdfast.backend=redis", "holdfast.commit-guard=fence"),

	/** {@link Holdfast}. */
	HOLDFAST_REDIS_LEASE("holdfast-redis-lease", Group.HOLDFAST, Holdfast.class, "Holdfast, redis, lease",
			"The locks are keys in Redis. The clock of the JVM decides at the commit.",
			"A pause between the look at the clock and the commit, and a lock that the store has lost.",
			"holdfast.backend=redis", "holdfast.commit-guard=lease"),

	/** {@link Holdfast}. */
	HOLDFAST_REDISSON_FENCE("holdfast-redisson-fence", Group.HOLDFAST, Holdfast.class, "Holdfast, redisson, fence",
			"The locks are keys in Redis, through Redisson. The database decides at each commit.",
			"One more statement in each transaction.", "holdfast.backend=redisson", "holdfast.commit-guard=fence"),

	/** {@link Holdfast}. */
	HOLDFAST_REDISSON_LEASE("holdfast-redisson-lease", Group.HOLDFAST, Holdfast.class, "Holdfast, redisson, lease",
			"The locks are keys in Redis, through Redisson. The clock of the JVM decides at the commit.",
			"A pause between the look at the clock and the commit, and a lock that the store has lost.",
			"holdfast.backend=redisson", "holdfast.commit-guard=lease"),

	/** {@link Holdfast}. */
	HOLDFAST_ZOOKEEPER_FENCE("holdfast-zookeeper-fence", Group.HOLDFAST, Holdfast.class, "Holdfast, zookeeper, fence",
			"The locks are nodes in ZooKeeper. The database decides at each commit.",
			"One more statement in each transaction.", "holdfast.backend=zookeeper", "holdfast.commit-guard=fence"),

	/** {@link Holdfast}. */
	HOLDFAST_ZOOKEEPER_LEASE("holdfast-zookeeper-lease", Group.HOLDFAST, Holdfast.class, "Holdfast, zookeeper, lease",
			"The locks are nodes in ZooKeeper. The clock of the JVM decides at the commit.",
			"A pause between the look at the clock and the commit, and a lock that the store has lost.",
			"holdfast.backend=zookeeper", "holdfast.commit-guard=lease"),

	/** {@link Holdfast}. */
	HOLDFAST_OFF("holdfast-off", Group.HOLDFAST, Holdfast.class, "Holdfast, switched off",
			"The same code, without locks.",
			"Two transactions read the same value. The later one overwrites what the earlier one has written.",
			"holdfast.enabled=false");

	private static final String STOCK_SERVICE = StockService.class.getSimpleName();

	/** The nodes of strategies that do not care. */
	private static final List<String> DEFAULT_NODE = HOLDFAST_JDBC.nodeProperties;

	private final String id;

	private final Group group;

	private final Class<? extends Strategy> type;

	private final String title;

	private final String explanation;

	private final String weakness;

	private final List<String> nodeProperties;

	StrategyType(String id, Group group, Class<? extends Strategy> type, String title, String explanation,
			String weakness, String... nodeProperties) {
		this.id = id;
		this.group = group;
		this.type = type;
		this.title = title;
		this.explanation = explanation;
		this.weakness = weakness;
		this.nodeProperties = List.of(nodeProperties);
	}

	/**
	 * Finds a strategy.
	 * @param id what it is called over HTTP
	 * @return the strategy, if there is one
	 */
	public static Optional<StrategyType> of(String id) {
		return Arrays.stream(values()).filter((type) -> type.id.equals(id)).findFirst();
	}

	/**
	 * What it is called over HTTP.
	 * @return the id
	 */
	public String id() {
		return this.id;
	}

	/**
	 * What it has in common with others.
	 * @return the group
	 */
	public Group group() {
		return this.group;
	}

	/**
	 * The class of its bean.
	 * @return the class
	 */
	public Class<? extends Strategy> type() {
		return this.type;
	}

	/**
	 * What it is called by people.
	 * @return the title
	 */
	public String title() {
		return this.title;
	}

	/**
	 * What it does.
	 * @return a sentence
	 */
	public String explanation() {
		return this.explanation;
	}

	/**
	 * What is wrong with it, or what it costs.
	 * @return a sentence
	 */
	public String weakness() {
		return this.weakness;
	}

	/**
	 * Whether it is right, whatever orders do. Otherwise a run in which nothing was lost
	 * was a lucky one.
	 * @param nodes how many nodes there are
	 * @param perils what happens to them
	 * @return whether it is
	 */
	public boolean guards(int nodes, Set<Peril> perils) {
		return switch (this.group) {
			case WRONG -> false;
			case ONE_NODE -> nodes == 1;
			case DATABASE -> true;
			case UNTIL_PAUSE, HOLDFAST -> this != HOLDFAST_OFF && perils.stream().allMatch(this::withstands);
		};
	}

	private boolean withstands(Peril peril) {
		if (this.nodeProperties.contains("holdfast.commit-guard=fence")) {
			return true;
		}
		return switch (peril) {
			case PAUSE -> this.group == Group.HOLDFAST;
			case PAUSE_AT_COMMIT -> false;
			case FORGOTTEN_LOCKS ->
				this == CURATOR_MUTEX || this == HOLDFAST_JDBC_LEASE || this == HOLDFAST_ZOOKEEPER_LEASE;
		};
	}

	/**
	 * The properties with which nodes are started for it.
	 * @return {@code name=value}
	 */
	public List<String> nodeProperties() {
		return this.nodeProperties.isEmpty() ? DEFAULT_NODE : this.nodeProperties;
	}

	/**
	 * The code that runs, as it was compiled.
	 * @return Java
	 */
	public String source() {
		String source = read(this.type.getSimpleName());
		if (source.contains(STOCK_SERVICE)) {
			source += "\n" + read(STOCK_SERVICE);
		}
		return this.nodeProperties.stream()
			.map((property) -> "// " + property + "\n")
			.collect(Collectors.joining("", "", source));
	}

	private static String read(String name) {
		try (InputStream source = StrategyType.class.getResourceAsStream(name + ".java")) {
			if (source == null) {
				throw new IllegalStateException("The source of " + name + " was not packaged");
			}
			return new String(source.readAllBytes(), StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
