package io.github.holdfast.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;

import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.FaultProxy;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.StatementCallback;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** The servers of a run, and a network between them and each node. */
final class Servers implements AutoCloseable {

	/** How long a client waits for an answer at most, in milliseconds. */
	static final int MAX_ANSWER_TIME = 5000;

	private static final int OPERATOR_SECONDS = 1;

	private static final long MICROS = 1000;

	private final Target target;

	private final DatabaseAccess database;

	private final JdbcTemplate operator;

	private final @Nullable RedisLockStore store;

	private final List<FaultProxy> databaseNetworks;

	private final List<FaultProxy> storeNetworks;

	private final Duration latency;

	Servers(Target target, int latency) {
		this.target = target;
		this.latency = Duration.ofMillis(latency);
		this.database = target.database().create();
		this.operator = new JdbcTemplate(
				new DriverManagerDataSource(this.database.url(), this.database.user(), this.database.password()));
		Accounts.create(this.operator);
		DatabaseAccess.runScript(Objects.requireNonNull(this.operator.getDataSource()), target.database().schema());
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

	List<String> leftovers() {
		return (this.store != null) ? this.store.leftovers()
				: query("SELECT lock_key FROM holdfast_lock WHERE expires_at > " + MICROS * System.currentTimeMillis());
	}

	Map<String, List<Accounts.Sale>> sales() {
		return new Accounts(new JdbcTemplate(Objects.requireNonNull(this.operator.getDataSource()))).sales();
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

	/** Whether a fault that ends has met anything, if that could not be told before. */
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

	/** Every second time it goes back. */
	private static long jump(Fault fault) {
		return ((fault.at() % 2 == 0) ? 1 : -1) * MICROS * fault.millis();
	}

	/** To a clock that has gone forward, all that was written down is longer ago. */
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

	/** How many rows an operator has changed, who gives up if it takes too long. */
	private int execute(String sql) {
		try {
			return Objects.requireNonNull(this.operator.execute((StatementCallback<Integer>) (statement) -> {
				statement.setQueryTimeout(OPERATOR_SECONDS);
				statement.execute(sql);
				return statement.getUpdateCount();
			}));
		}
		catch (DataAccessException ex) {
			// A row was locked, or a session had ended by itself
			return 0;
		}
	}

	private List<String> query(String sql) {
		return new ArrayList<>(this.operator.queryForList(sql, String.class));
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
