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
import java.util.stream.IntStream;

import com.zaxxer.hikari.HikariDataSource;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.FaultProxy;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The servers of a run, and a network between them and each node.
 */
final class Servers implements AutoCloseable {

	/** How long a client waits for an answer at most, in milliseconds. */
	static final int MAX_ANSWER_TIME = 5000;

	private static final long MICROS = 1000;

	private final Target target;

	private final DatabaseAccess database;

	private final @Nullable RedisLockStore store;

	private final List<FaultProxy> databaseNetworks;

	private final List<FaultProxy> storeNetworks;

	private final Duration latency;

	Servers(Target target, int latency) {
		this.target = target;
		this.latency = Duration.ofMillis(latency);
		this.database = target.database().create();
		try (HikariDataSource dataSource = this.database.dataSource(1)) {
			Accounts.create(dataSource);
			DatabaseAccess.runScript(dataSource, target.database().schema());
		}
		RedisLockStore store = (target.backend() == Backend.REDIS) ? new RedisLockStore() : null;
		this.store = store;
		this.databaseNetworks = networks(this.database.port());
		this.storeNetworks = (store != null) ? networks(store.port()) : List.of();
	}

	private List<FaultProxy> networks(int port) {
		return IntStream.range(0, Plan.NODES).mapToObj((node) -> {
			FaultProxy network = new FaultProxy(port);
			network.delay(this.latency);
			return network;
		}).toList();
	}

	DatabaseAccess database(int node) {
		return this.target.database()
			.through(this.databaseNetworks.get(node).port(), this.database, this.target.isolation());
	}

	int store(int node) {
		return this.storeNetworks.isEmpty() ? 0 : this.storeNetworks.get(node).port();
	}

	/**
	 * What is left of locks that nobody holds any more.
	 */
	List<String> leftovers() {
		return (this.store != null) ? this.store.leftovers()
				: query("SELECT lock_key FROM holdfast_lock WHERE expires_at > " + MICROS * System.currentTimeMillis());
	}

	Map<String, List<Accounts.Sale>> sales() {
		try (HikariDataSource dataSource = this.database.dataSource(1)) {
			return new Accounts(new JdbcTemplate(dataSource)).sales();
		}
	}

	/**
	 * Whether a fault that begins has met anything, as far as that can be told by now.
	 */
	boolean begin(Fault fault) {
		return switch (fault.place()) {
			case STORE_NETWORK, DATABASE_NETWORK -> begin(fault, network(fault));
			case STORE -> (this.store != null) ? this.store.begin(fault) : beginInTable(fault);
			case DATABASE -> killSessions(fault);
			case NODE -> throw new IllegalArgumentException(fault.toString());
		};
	}

	private FaultProxy network(Fault fault) {
		return ((fault.place() == Fault.Place.STORE_NETWORK) ? this.storeNetworks : this.databaseNetworks)
			.get(fault.node());
	}

	/**
	 * Whether a fault that ends has met anything, as far as that could not be told
	 * before.
	 */
	boolean end(Fault fault) {
		switch (fault.place()) {
			case STORE_NETWORK, DATABASE_NETWORK -> {
				FaultProxy network = network(fault);
				end(fault, network);
				return network.brokenCommits() > 0 || !fault.kind().needsCommit();
			}
			case STORE -> {
				if (this.store != null && fault.kind() == Fault.Kind.PROMOTION) {
					this.store.promote();
				}
				else if (fault.kind() == Fault.Kind.CLOCK_JUMP) {
					moveClock(-jump(fault));
				}
			}
			default -> {
			}
		}
		return true;
	}

	private static boolean begin(Fault fault, FaultProxy network) {
		FaultProxy.Fault kind = fault.kind().network;
		if (fault.kind() == Fault.Kind.DELAY) {
			network.delay(Duration.ofMillis(10 + fault.millis() / 10));
		}
		if (kind != null) {
			network.inject(kind);
		}
		if (fault.kind() == Fault.Kind.RESET || kind == FaultProxy.Fault.REFUSE) {
			network.reset();
		}
		return true;
	}

	private void end(Fault fault, FaultProxy network) {
		network.delay(this.latency);
		if (fault.kind() == Fault.Kind.DROP_REPLIES) {
			// Nobody could make sense of the rest
			network.reset();
		}
		network.inject(FaultProxy.Fault.NONE);
	}

	private boolean beginInTable(Fault fault) {
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
		return execute("UPDATE holdfast_lock SET expires_at = expires_at - " + micros + " WHERE expires_at > 0") > 0;
	}

	private boolean killSessions(Fault fault) {
		Database database = this.target.database();
		boolean some = fault.kind() == Fault.Kind.SOME_SESSIONS_KILLED;
		List<String> sessions = query(
				database.sessions + ((fault.kind() == Fault.Kind.IDLE_SESSIONS_KILLED) ? database.idle : ""));
		sessions.removeIf((session) -> some && (Long.parseLong(session) + fault.at()) % 2 != 0);
		sessions.forEach((session) -> execute(database.kill.formatted(session)));
		return !sessions.isEmpty();
	}

	/**
	 * What an operator does, who gives up if it takes too long.
	 * @return how many rows have changed
	 */
	private int execute(String sql) {
		try (Connection connection = connect(); Statement statement = connection.createStatement()) {
			statement.setQueryTimeout(1);
			statement.execute(sql);
			return statement.getUpdateCount();
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
		this.storeNetworks.forEach(FaultProxy::close);
		if (this.store != null) {
			this.store.close();
		}
	}

}
