package io.github.holdfast.chaos;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import com.zaxxer.hikari.HikariDataSource;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcTemplate;

import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.TestDatabase;

/**
 * The servers of a run, and a network between them and each node.
 */
final class Servers implements AutoCloseable {

	/** The longest of these times in milliseconds. */
	static final int MAX_ANSWER_TIME = 5000;

	/**
	 * A statement that waits for an answer which never comes fails at last, as it should
	 * in any application. The database is not told which transactions only read.
	 */
	private static final Map<TestDatabase, String> SETTINGS = Map.of(TestDatabase.MARIADB,
			"?socketTimeout=5000&connectTimeout=2000&readOnlyPropagatesToServer=false", TestDatabase.POSTGRESQL,
			"?socketTimeout=5&connectTimeout=2&readOnlyMode=ignore");

	private static final int OPERATOR_SECONDS = 1;

	private static final int SLOW_BYTES_PER_SECOND = 5_000;

	private static final long MICROS = 1000;

	private final TestDatabase kind;

	private final Isolation isolation;

	private final DatabaseAccess database;

	private final @Nullable LockStore store;

	private final List<FaultProxy> databaseNetworks;

	/** Those of each node. */
	private final List<List<FaultProxy>> storeNetworks;

	private final Duration latency;

	Servers(Target target, int latency) {
		this.kind = target.database();
		this.isolation = target.isolation();
		this.latency = Duration.ofMillis(latency);
		this.database = this.kind.newRemoteDatabase();
		try (HikariDataSource dataSource = this.database.dataSource(1)) {
			Accounts.create(dataSource);
			for (String script : List.of("schema", "fence-schema")) {
				DatabaseAccess.runScript(dataSource,
						"io/github/holdfast/jdbc/" + script + "-" + this.kind.platform() + ".sql");
			}
		}
		LockStore locks = target.backend().startStore();
		this.store = locks;
		this.databaseNetworks = ofNodes(() -> new FaultProxy(this.database.port()));
		this.databaseNetworks.forEach((network) -> network.delay(this.latency));
		this.storeNetworks = ofNodes(
				() -> (locks != null) ? locks.ports().stream().map(FaultProxy::new).toList() : List.of());
		this.storeNetworks.forEach((networks) -> networks.forEach((network) -> network.delay(this.latency)));
	}

	private static <T> List<T> ofNodes(Supplier<T> network) {
		return IntStream.range(0, Plan.NODES).mapToObj((node) -> network.get()).toList();
	}

	/**
	 * The database as a node sees it.
	 */
	DatabaseAccess database(int node) {
		DatabaseAccess access = this.database.onPort(this.databaseNetworks.get(node).port());
		return new DatabaseAccess(access.url() + SETTINGS.getOrDefault(this.kind, "") + this.isolation.urlSetting(),
				access.user(), access.password());
	}

	/**
	 * The addresses of the store as a node sees them.
	 */
	String store(int node) {
		return this.storeNetworks.get(node)
			.stream()
			.map((network) -> "127.0.0.1:" + network.port())
			.collect(Collectors.joining(","));
	}

	/**
	 * What is left of locks that nobody holds any more.
	 */
	List<String> leftovers() {
		return (this.store != null) ? this.store.leftovers() : query("""
				SELECT l.lock_key FROM holdfast_lock l LEFT JOIN holdfast_renewal r
				ON r.lock_key = l.lock_key AND r.epoch = l.epoch AND r.owner = l.owner
				WHERE l.owner IS NOT NULL AND COALESCE(r.expires_at, l.expires_at) >\s"""
				+ MICROS * System.currentTimeMillis());
	}

	Map<String, List<Accounts.Sale>> sales() {
		try (HikariDataSource dataSource = this.database.dataSource(1)) {
			return new Accounts(new JdbcTemplate(dataSource)).sales();
		}
	}

	/**
	 * How much there is of locks, also of those that nobody holds.
	 */
	long size() {
		return (this.store != null) ? this.store.size()
				: Long.parseLong(query("SELECT count(*) FROM holdfast_lock").get(0))
						+ Long.parseLong(query("SELECT count(*) FROM holdfast_renewal").get(0));
	}

	/**
	 * A fault begins.
	 * @return whether it has met anything, as far as that can be told by now
	 */
	boolean begin(Fault fault) {
		switch (fault.kind().place()) {
			case STORE_NETWORK -> this.storeNetworks.get(fault.node()).forEach((network) -> begin(fault, network));
			case DATABASE_NETWORK -> begin(fault, this.databaseNetworks.get(fault.node()));
			case STORE -> {
				return beginAtStore(fault);
			}
			case DATABASE -> {
				return killSessions(fault.kind() == Fault.Kind.IDLE_SESSIONS_KILLED) > 0;
			}
			case NODE -> throw new IllegalArgumentException(fault.toString());
		}
		return true;
	}

	/**
	 * A fault ends.
	 * @return whether it has met anything, as far as that could not be told before
	 */
	boolean end(Fault fault) {
		switch (fault.kind().place()) {
			case STORE_NETWORK -> this.storeNetworks.get(fault.node()).forEach((network) -> end(fault, network));
			case DATABASE_NETWORK -> {
				FaultProxy network = this.databaseNetworks.get(fault.node());
				end(fault, network);
				return network.brokenCommits() > 0 || !fault.kind().needsCommit();
			}
			case STORE -> endAtStore(fault);
			default -> {
			}
		}
		return true;
	}

	private static void begin(Fault fault, FaultProxy network) {
		switch (fault.kind()) {
			case STORE_DELAY, DATABASE_DELAY -> network.delay(Duration.ofMillis(10 + fault.millis() / 10));
			case STORE_BLACKHOLE, DATABASE_BLACKHOLE -> network.inject(FaultProxy.Fault.BLACKHOLE);
			case STORE_HOLD_REQUESTS, DATABASE_HOLD_REQUESTS -> network.inject(FaultProxy.Fault.HOLD_REQUESTS);
			case STORE_HOLD_REPLIES, DATABASE_HOLD_REPLIES -> network.inject(FaultProxy.Fault.HOLD_REPLIES);
			case STORE_DROP_REPLIES, DATABASE_DROP_REPLIES -> network.inject(FaultProxy.Fault.DROP_REPLIES);
			case STORE_THROTTLE, DATABASE_THROTTLE -> network.throttle(SLOW_BYTES_PER_SECOND);
			case COMMIT_REPLY_LOST -> network.inject(FaultProxy.Fault.BREAK_COMMITS);
			case COMMIT_LATE -> network.inject(FaultProxy.Fault.LATE_COMMITS);
			case STORE_RESET, DATABASE_RESET -> network.reset();
			case STORE_REFUSE, DATABASE_REFUSE -> {
				network.inject(FaultProxy.Fault.REFUSE);
				network.reset();
			}
			default -> throw new IllegalArgumentException(fault.toString());
		}
	}

	private void end(Fault fault, FaultProxy network) {
		network.delay(this.latency);
		network.throttle(Integer.MAX_VALUE);
		if (fault.kind() == Fault.Kind.STORE_DROP_REPLIES || fault.kind() == Fault.Kind.DATABASE_DROP_REPLIES) {
			// What was swallowed is gone, so that nobody could make sense of the rest
			network.reset();
		}
		network.inject(FaultProxy.Fault.NONE);
	}

	private boolean beginAtStore(Fault fault) {
		if (this.store != null) {
			return this.store.begin(fault);
		}
		return (fault.kind() == Fault.Kind.CLOCK_JUMP) ? moveClock(jump(fault))
				: execute("DELETE FROM holdfast_lock") > 0;
	}

	/**
	 * Every second time it goes back.
	 */
	private static long jump(Fault fault) {
		return ((fault.at() % 2 == 0) ? 1 : -1) * MICROS * fault.millis();
	}

	/**
	 * To a clock that has gone forward, all that was written down is longer ago.
	 */
	private boolean moveClock(long micros) {
		int moved = 0;
		for (String table : List.of("holdfast_lock", "holdfast_renewal")) {
			moved += execute("UPDATE " + table + " SET expires_at = expires_at - " + micros);
		}
		return moved > 0;
	}

	private void endAtStore(Fault fault) {
		if (this.store != null) {
			this.store.end(fault);
		}
		else if (fault.kind() == Fault.Kind.CLOCK_JUMP) {
			moveClock(-jump(fault));
		}
	}

	private int killSessions(boolean idle) {
		List<String> sessions = switch (this.kind) {
			case POSTGRESQL -> query("""
					SELECT pg_terminate_backend(pid) FROM pg_stat_activity
					WHERE datname = current_database() AND pid <> pg_backend_pid()"""
					+ (idle ? " AND state LIKE 'idle%'" : ""));
			case MARIADB -> query("""
					SELECT concat('KILL ', id) FROM information_schema.processlist
					WHERE db = database() AND id <> connection_id()""" + (idle ? " AND command = 'Sleep'" : ""));
			default -> throw new IllegalStateException("Nobody knows how to end sessions of " + this.kind);
		};
		if (this.kind == TestDatabase.MARIADB) {
			sessions.forEach(this::execute);
		}
		return sessions.size();
	}

	/**
	 * What an operator does, who gives up if it takes too long.
	 * @return how many rows have changed
	 */
	private int execute(String sql) {
		try (Connection connection = connect(); Statement statement = connection.createStatement()) {
			statement.setQueryTimeout(OPERATOR_SECONDS);
			return statement.executeUpdate(sql);
		}
		catch (SQLException ex) {
			// A row was locked, or a session had ended by itself
			return 0;
		}
	}

	private List<String> query(String sql) {
		try (Connection connection = connect();
				Statement statement = connection.createStatement();
				ResultSet rs = statement.executeQuery(sql)) {
			List<String> texts = new ArrayList<>();
			while (rs.next()) {
				texts.add(rs.getString(1));
			}
			return texts;
		}
		catch (SQLException ex) {
			throw new IllegalStateException("The database does not answer", ex);
		}
	}

	private Connection connect() throws SQLException {
		return DriverManager.getConnection(this.database.url(), this.database.user(), this.database.password());
	}

	@Override
	public void close() {
		this.databaseNetworks.forEach(FaultProxy::close);
		this.storeNetworks.forEach((networks) -> networks.forEach(FaultProxy::close));
		if (this.store != null) {
			this.store.close();
		}
	}

}
