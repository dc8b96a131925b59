package io.github.holdfast.lab.strategy;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import com.fasterxml.jackson.annotation.JsonValue;

import org.springframework.util.ReflectionUtils;

/**
 * All strategies. The language files of the page describe them.
 */
public enum StrategyType {

	MEMORY_OVERWRITE(Group.WRONG, Statements.class), SYNCHRONIZED_TRANSACTIONAL(Group.WRONG, Statements.class),
	REDIS_INSIDE_TRANSACTION(Group.WRONG, RedissonLocks.class), SETNX_NO_EXPIRY(Group.WRONG, RedisKeys.class),
	DELETE_WITHOUT_OWNER(Group.WRONG, RedisKeys.class), GET_THEN_DEL(Group.WRONG, RedisKeys.class),
	UNLOCK_UNLOCKED(Group.WRONG, RedisKeys.class), EXPIRY_IN_JAVA(Group.WRONG, LockRows.class),
	INSERT_LOCK_CLEANER(Group.WRONG, LockRows.class), LOCK_ROW_IN_TRANSACTION(Group.WRONG, LockRows.class),
	TRANSACTION_LEFT_OPEN(Group.WRONG, Statements.class), TWO_WAITS(Group.WRONG, LockRows.class),
	REDIS_STOCK(Group.WRONG, RedisKeys.class), REDIS_ATOMIC_LONG(Group.WRONG, RedissonLocks.class),
	COPIED_ASPECT(Group.WRONG, CopiedAspect.class), SYNCHRONIZED_CALLER(Group.ONE_NODE, Statements.class),
	FOR_UPDATE(Group.DATABASE, Statements.class), LOCK_TABLE(Group.DATABASE, LockRows.class),
	ONE_LOCK_FOR_ALL(Group.DATABASE, LockRows.class), INSERT_LOCK(Group.DATABASE, LockRows.class),
	OPTIMISTIC_RETRY(Group.DATABASE, Statements.class), CONDITIONAL_UPDATE(Group.DATABASE, Statements.class),
	REDIS_PX_LUA(Group.UNTIL_PAUSE, RedisKeys.class), REDISSON_WATCHDOG(Group.UNTIL_PAUSE, RedissonLocks.class),
	HOLDFAST_JDBC(Group.HOLDFAST, Holdfast.class, "holdfast.backend=jdbc", "holdfast.jdbc.mode=transaction",
			"holdfast.commit-guard=fence"),
	HOLDFAST_REDIS_FENCE(Group.HOLDFAST, Holdfast.class, "holdfast.backend=redis", "holdfast.commit-guard=fence"),
	HOLDFAST_REDIS_LEASE(Group.HOLDFAST, Holdfast.class, "holdfast.backend=redis", "holdfast.commit-guard=lease"),
	HOLDFAST_OFF(Group.HOLDFAST, Holdfast.class, "holdfast.enabled=false");

	/** The nodes of strategies that do not care. */
	private static final List<String> DEFAULT_NODE = HOLDFAST_JDBC.nodeProperties;

	private final Group group;

	private final Class<?> type;

	private final Method method;

	private final List<String> nodeProperties;

	StrategyType(Group group, Class<?> type, String... nodeProperties) {
		this.group = group;
		this.type = type;
		this.method = method(type, id());
		this.nodeProperties = List.of(nodeProperties);
	}

	public static Optional<StrategyType> of(String id) {
		return Arrays.stream(values()).filter((type) -> type.id().equals(id)).findFirst();
	}

	public String id() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

	public Group group() {
		return this.group;
	}

	/** The bean that has the strategy as one of its methods. */
	public Class<?> type() {
		return this.type;
	}

	/** Lets the bean sell an order. */
	public boolean sell(Object bean, Order order) throws Exception {
		try {
			return order.sellBy(() -> (boolean) this.method.invoke(bean, order));
		}
		catch (InvocationTargetException ex) {
			throw (ex.getCause() instanceof Exception cause) ? cause : ex;
		}
	}

	/**
	 * Whether it is right, whatever orders do. Otherwise a run in which nothing was lost
	 * was a lucky one.
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
		return this.nodeProperties.contains("holdfast.commit-guard=fence")
				|| (peril == Peril.PAUSE && this.group == Group.HOLDFAST);
	}

	public List<String> nodeProperties() {
		return this.nodeProperties.isEmpty() ? DEFAULT_NODE : this.nodeProperties;
	}

	/** The code that runs, as it was compiled. */
	public String source() {
		return this.nodeProperties.stream()
			.map((property) -> "// " + property + "\n")
			.collect(Collectors.joining("", "", SourceCode.of(this.type, this.method.getName())));
	}

	/**
	 * Its method has the name of the strategy, or is {@code sell} of a class with one
	 * strategy.
	 */
	private static Method method(Class<?> type, String id) {
		String name = Pattern.compile("-(\\w)")
			.matcher(id)
			.replaceAll((letter) -> letter.group(1).toUpperCase(Locale.ROOT));
		Method method = ReflectionUtils.findMethod(type, name, Order.class);
		return Objects
			.requireNonNull((method != null) ? method : ReflectionUtils.findMethod(type, "sell", Order.class));
	}

	/** What strategies have in common. */
	public enum Group {

		/** Wrong on purpose, on one node already. */
		WRONG,

		/** Right as long as there is one node. */
		ONE_NODE,

		/** Right, by the database. */
		DATABASE,

		/** Right until a pause outlasts the lease. */
		UNTIL_PAUSE,

		/** Holdfast, at each level and off. */
		HOLDFAST;

		@JsonValue
		public String id() {
			return name().toLowerCase(Locale.ROOT).replace('_', '-');
		}

	}

	/** What may happen to a run, and not every strategy withstands. */
	public enum Peril {

		/** A node stands still. */
		PAUSE,

		/**
		 * A node stands still when all is checked, and the commit is about to be sent.
		 */
		PAUSE_AT_COMMIT,

		/** Redis forgets the locks. */
		FORGOTTEN_LOCKS

	}

}
