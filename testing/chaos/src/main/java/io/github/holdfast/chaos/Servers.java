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

	private static final int OPERATOR_SECONDS = 1;

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

	/**
	 * The database as a node sees it.
	 */
	DatabaseAccess database(int node) {
		return this.target.database()
			.through(this.databaseNetworks.get(node).port(), this.database, this.target.isolation());
	}

	/**
	 * The port of the store as a node sees it, or 0.
	 */
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
	 * A fault begins.
	 * @return whether it has met anything, as far as that can be told by now
	 */
	boolean begin(Fault fault) {
		switch (fault.place()) {
			case STORE_NETWORK -> begin(fault, this.storeNetworks.get(fault.node()));
			case DATABASE_NETWORK -> begin(fault, this.databaseNetworks.get(fault.node()));
			case STORE -> {
				return (this.store != null) ? this.store.begin(fault) : beginInTable(fault);
			}
			case DATABASE -> {
				return killSessions(fault) > 0;
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
		switch (fault.place()) {
			case STORE_NETWORK -> end(fault, this.storeNetworks.get(fault.node()));
			case DATABASE_NETWORK -> {
				FaultProxy network = this.databaseNetworks.get(fault.node());
				end(fault, network);
				return network.brokenCommits() > 0 || !fault.kind().needsCommit();
			}
			case STORE -> {
				if (this.store != null) {
					this.store.end(fault);
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

	private static void begin(Fault fault, FaultProxy network) {
		FaultProxy.Fault kind = fault.kind().network();
		if (fault.kind() == Fault.Kind.DELAY) {
			network.delay(Duration.ofMillis(10 + fault.millis() / 10));
		}
		if (kind != null) {
			network.inject(kind);
		}
		if (fault.kind() == Fault.Kind.RESET || kind == FaultProxy.Fault.REFUSE) {
			network.reset();
		}
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

	private int killSessions(Fault fault) {
		List<String> statements = this.target.database().sessions(fault.kind() == Fault.Kind.IDLE_SESSIONS_KILLED);
		List<String> sessions = query(statements.get(0));
		int killed = 0;
		for (String session : sessions) {
			if (fault.kind() != Fault.Kind.SOME_SESSIONS_KILLED || (Long.parseLong(session) + fault.at()) % 2 == 0) {
				execute(statements.get(1).formatted(session));
				killed++;
			}
		}
		return killed;
	}

	/**
	 * What an operator does, who gives up if it takes too long.
	 * @return how many rows have changed
	 */
	private int execute(String sql) {
		try (Connection connection = connect(); Statement statement = connection.createStatement()) {
			statement.setQueryTimeout(OPERATOR_SECONDS);
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
