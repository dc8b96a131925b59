package io.github.holdfast.cost;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import io.github.holdfast.cost.CountedBackend.Counted;
import io.github.holdfast.cost.CountedBackend.Levels;
import io.github.holdfast.testsupport.RequiresEtcd;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a call of a locked method with a transaction costs in round trips and durable
 * commits. These do not depend on the machine, so they are asserted: those that the
 * product promises, and all cells of the tables in {@code testing/benchmarks/results.md},
 * which the system property {@code counted.write} replaces by what is counted.
 */
@Timeout(600)
@Tag("long")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CallCostTests {

	private static final List<TestDatabase> DATABASES = List.of(TestDatabase.MARIADB, TestDatabase.POSTGRESQL);

	private static final Counted NO_LOCK = new Counted(CountedBackend.NO_LOCK, "");

	private static final String NOTHING = "–";

	/** A busy machine may need more than the first one. */
	private static final List<Duration> LATENESS = List.of(Duration.ofMillis(3), Duration.ofMillis(30),
			Duration.ofMillis(300));

	private final Map<TestDatabase, Map<Counted, Map<CallKind, Cost>>> costs = new EnumMap<>(TestDatabase.class);

	private Duration lateness = LATENESS.get(0);

	@AfterAll
	void stop() {
		Stream.of(CountedBackend.values()).forEach(CountedBackend::stop);
	}

	static Stream<Counted> withoutEtcd() {
		return CountedBackend.all().filter(Predicate.not(CallCostTests::needsEtcd));
	}

	static Stream<Counted> withEtcd() {
		return CountedBackend.all().filter(CallCostTests::needsEtcd);
	}

	private static boolean needsEtcd(Counted counted) {
		return counted.backend() == CountedBackend.ETCD;
	}

	@ParameterizedTest
	@MethodSource("withoutEtcd")
	void costIsThatOfTheTables(Counted counted) throws Exception {
		assertThatTablesHave(counted);
	}

	@ParameterizedTest
	@MethodSource("withEtcd")
	@RequiresEtcd
	void costWithEtcdIsThatOfTheTables(Counted counted) throws Exception {
		assertThatTablesHave(counted);
	}

	private void assertThatTablesHave(Counted counted) throws Exception {
		for (Duration lateness : LATENESS) {
			this.lateness = lateness;
			if (doTablesHave(counted)) {
				return;
			}
			this.costs.values().forEach((known) -> known.remove(counted));
		}
		for (CallKind kind : kinds(counted)) {
			assertThat(CostTable.of(kind).rows())
				.as("%s, %s%nMariaDB: %s%nPostgreSQL: %s", kind.title(), counted,
						cost(TestDatabase.MARIADB, counted, kind), cost(TestDatabase.POSTGRESQL, counted, kind))
				.contains(row(counted, kind));
		}
	}

	private boolean doTablesHave(Counted counted) throws Exception {
		for (CallKind kind : kinds(counted)) {
			if (!CostTable.of(kind).rows().contains(row(counted, kind))) {
				return false;
			}
		}
		return true;
	}

	@ParameterizedTest
	@EnumSource
	void tableHasNoOtherRows(CallKind kind) throws IOException {
		assertThat(CostTable.of(kind).rows()).extracting((row) -> row.get(0) + " " + row.get(1))
			.containsExactlyElementsOf(rowsOf(kind).map(Counted::toString).toList());
	}

	@Test
	@RequiresEtcd
	@EnabledIfSystemProperty(named = "counted.write", matches = "true")
	void tablesAreReplaced() throws Exception {
		for (CallKind kind : CallKind.values()) {
			List<List<String>> rows = new ArrayList<>();
			for (Counted counted : rowsOf(kind).toList()) {
				rows.add(row(counted, kind));
			}
			CostTable.of(kind).write(rows);
			assertThat(CostTable.of(kind).rows()).isEqualTo(rows);
		}
	}

	@ParameterizedTest
	@CsvSource({ "MARIADB,LOCAL", "MARIADB,REDIS", "MARIADB,REDISSON", "MARIADB,ZOOKEEPER", "POSTGRESQL,LOCAL",
			"POSTGRESQL,REDIS", "POSTGRESQL,REDISSON", "POSTGRESQL,ZOOKEEPER" })
	void claimIsOneRoundTripAndItsCheckAndNoCommit(TestDatabase database, CountedBackend backend) throws Exception {
		Cost lease = cost(database, new Counted(backend, Levels.LEASE), CallKind.FREE);
		Cost fence = cost(database, new Counted(backend, Levels.FENCE), CallKind.FREE);
		assertThat(lease.trips()).noneMatch((sql) -> sql.contains("holdfast_"));
		int checks = (database == TestDatabase.POSTGRESQL) ? 0 : 1;
		assertThat(fence.trips()).as("%s", fence)
			.hasSize(lease.trips().size() + 1 + checks)
			.filteredOn((sql) -> sql.contains("holdfast_"))
			.hasSize(1 + checks)
			.first()
			.asString()
			.contains("UPDATE holdfast_fence");
		assertThat(fence.commits()).isEqualTo(lease.commits()).isOne();
		assertThat(fence.storeTrips()).hasSameSizeAs(lease.storeTrips());
	}

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "POSTGRESQL" })
	void lockInTheTableIsTakenByOneRoundTripAndReleasedByTheCommit(TestDatabase database) throws Exception {
		Cost without = cost(database, NO_LOCK, CallKind.FREE);
		Cost locked = cost(database, new Counted(CountedBackend.JDBC_LEASE, Levels.FENCE), CallKind.FREE);
		assertThat(locked.trips()).as("%s", locked).hasSize(without.trips().size() + 2).satisfies((trips) -> {
			assertThat(trips.get(0)).contains("UPDATE holdfast_lock").contains("epoch = ");
			assertThat(trips).filteredOn((sql) -> sql.contains("UPDATE holdfast_lock SET owner = NULL")).hasSize(1);
		});
		assertThat(locked.commits()).as("the acquisition, and the transaction with the release").isEqualTo(2);
		assertThat(without.commits()).isOne();
	}

	private List<String> row(Counted counted, CallKind kind) throws Exception {
		List<String> cells = new ArrayList<>(List.of(counted.backend().title(), counted.level()));
		for (TestDatabase database : DATABASES) {
			Cost cost = cost(database, counted, kind);
			Cost without = cost(database, NO_LOCK, kind);
			cells.add(cell(counted, cost.trips().size(), without.trips().size()));
			cells.add(cell(counted, cost.commits(), without.commits()));
		}
		Cost first = cost(DATABASES.get(0), counted, kind);
		Cost second = cost(DATABASES.get(1), counted, kind);
		boolean hasStore = counted.backend().protocol() != null;
		cells.add(hasStore ? same(first.awaited(), second.awaited()) : NOTHING);
		cells.add(hasStore ? same(first.notAwaited(), second.notAwaited()) : NOTHING);
		return cells;
	}

	/**
	 * What the lock adds.
	 */
	private static String cell(Counted counted, long cost, long without) {
		return counted.equals(NO_LOCK) ? Long.toString(cost) : "+" + (cost - without);
	}

	private static String same(int first, int second) {
		return (first == second) ? Integer.toString(first) : first + " or " + second;
	}

	private Cost cost(TestDatabase database, Counted counted, CallKind kind) throws Exception {
		Map<Counted, Map<CallKind, Cost>> known = this.costs.computeIfAbsent(database, (key) -> new HashMap<>());
		if (!known.containsKey(counted)) {
			known.put(counted, CallCounter.count(counted, database, this.lateness));
		}
		return known.get(counted).get(kind);
	}

	private static List<CallKind> kinds(Counted counted) {
		return Stream.of(CallKind.values()).filter((kind) -> kind.isCountedAt(counted.level())).toList();
	}

	private static Stream<Counted> rowsOf(CallKind kind) {
		return CountedBackend.all().filter((counted) -> kind.isCountedAt(counted.level()));
	}

}
