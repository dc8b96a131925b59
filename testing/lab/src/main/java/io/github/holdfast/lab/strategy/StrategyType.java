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
 * All strategies. The language files of the page describe them.
 */
public enum StrategyType {

	MEMORY_OVERWRITE("memory-overwrite", Group.WRONG, MemoryOverwrite.class),
	SYNCHRONIZED_TRANSACTIONAL("synchronized-transactional", Group.WRONG, SynchronizedTransactional.class),
	REDIS_INSIDE_TRANSACTION("redis-inside-transaction", Group.WRONG, RedisInsideTransaction.class),
	SETNX_NO_EXPIRY("setnx-no-expiry", Group.WRONG, SetnxNoExpiry.class),
	DELETE_WITHOUT_OWNER("delete-without-owner", Group.WRONG, DeleteWithoutOwner.class),
	GET_THEN_DEL("get-then-del", Group.WRONG, GetThenDel.class),
	UNLOCK_UNLOCKED("unlock-unlocked", Group.WRONG, UnlockUnlocked.class),
	EXPIRY_IN_JAVA("expiry-in-java", Group.WRONG, ExpiryInJava.class),
	INSERT_LOCK_CLEANER("insert-lock-cleaner", Group.WRONG, InsertLockCleaner.class),
	LOCK_ROW_IN_TRANSACTION("lock-row-in-transaction", Group.WRONG, LockRowInTransaction.class),
	TRANSACTION_LEFT_OPEN("transaction-left-open", Group.WRONG, TransactionLeftOpen.class),
	TWO_WAITS("two-waits", Group.WRONG, TwoWaits.class), REDIS_STOCK("redis-stock", Group.WRONG, RedisStock.class),
	COPIED_ASPECT("copied-aspect", Group.WRONG, CopiedAspect.class),
	SYNCHRONIZED_CALLER("synchronized-caller", Group.ONE_NODE, SynchronizedCaller.class),
	FOR_UPDATE("for-update", Group.DATABASE, ForUpdate.class),
	LOCK_TABLE("lock-table", Group.DATABASE, LockTable.class),
	ONE_LOCK_FOR_ALL("one-lock-for-all", Group.DATABASE, OneLockForAll.class),
	INSERT_LOCK("insert-lock", Group.DATABASE, InsertLock.class),
	OPTIMISTIC_RETRY("optimistic-retry", Group.DATABASE, OptimisticRetry.class),
	CONDITIONAL_UPDATE("conditional-update", Group.DATABASE, ConditionalUpdate.class),
	REDIS_PX_LUA("redis-px-lua", Group.UNTIL_PAUSE, RedisPxLua.class),
	REDISSON_WATCHDOG("redisson-watchdog", Group.UNTIL_PAUSE, RedissonWatchdog.class),
	HOLDFAST_JDBC("holdfast-jdbc", Group.HOLDFAST, Holdfast.class, "holdfast.backend=jdbc",
			"holdfast.jdbc.mode=transaction", "holdfast.commit-guard=fence"),
	HOLDFAST_REDIS_FENCE("holdfast-redis-fence", Group.HOLDFAST, Holdfast.class, "holdfast.backend=redis",
			"holdfast.commit-guard=fence"),
	HOLDFAST_REDIS_LEASE("holdfast-redis-lease", Group.HOLDFAST, Holdfast.class, "holdfast.backend=redis",
			"holdfast.commit-guard=lease"),
	HOLDFAST_OFF("holdfast-off", Group.HOLDFAST, Holdfast.class, "holdfast.enabled=false");

	private static final String STOCK_SERVICE = StockService.class.getSimpleName();

	/** The nodes of strategies that do not care. */
	private static final List<String> DEFAULT_NODE = HOLDFAST_JDBC.nodeProperties;

	private final String id;

	private final Group group;

	private final Class<? extends Strategy> type;

	private final List<String> nodeProperties;

	StrategyType(String id, Group group, Class<? extends Strategy> type, String... nodeProperties) {
		this.id = id;
		this.group = group;
		this.type = type;
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

	public String id() {
		return this.id;
	}

	public Group group() {
		return this.group;
	}

	public Class<? extends Strategy> type() {
		return this.type;
	}

	/**
	 * Whether it is right, whatever orders do. Otherwise a run in which nothing was lost
	 * was a lucky one.
	 * @param nodes how many nodes there are
	 * @param perils what happens to them
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
			case FORGOTTEN_LOCKS -> false;
		};
	}

	/**
	 * The properties with which nodes are started for it.
	 */
	public List<String> nodeProperties() {
		return this.nodeProperties.isEmpty() ? DEFAULT_NODE : this.nodeProperties;
	}

	/**
	 * The code that runs, as it was compiled.
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
