package io.github.holdfast.chaos;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Each broken promise in a history is found, and none where all are kept. */
class CheckerTests {

	private static final String KEY = "row-1";

	@Test
	void nothingIsFoundWhenHoldersCameOneAfterTheOther() {
		assertThat(kinds(List.of(sold(1, 10, 0), sold(2, 11, 1)), List.of(sale("1/0", 10, 1), sale("2/0", 11, 2))))
			.isEmpty();
	}

	@Test
	void lostUpdateIsFound() {
		assertThat(kinds(List.of(), List.of(sale("1/0", 10, 1), sale("2/0", 11, 1))))
			.containsExactly(Violation.Kind.LOST_UPDATE);
	}

	@Test
	void innerCommitWhoseOuterTransactionCommitsIsCovered() {
		assertThat(inner(Ending.RESULT, Touch.Fate.COMMITTED, 250)).contains(Violation.Kind.LOST_UPDATE);
	}

	@Test
	void innerCommitWhoseOuterTransactionFailsIsCoveredFromTheOutsideOfItsCommit() {
		assertThat(inner(Ending.OWN_EXCEPTION, Touch.Fate.COMMITTED, 150)).contains(Violation.Kind.LOST_UPDATE);
		assertThat(inner(Ending.OWN_EXCEPTION, Touch.Fate.COMMITTED, 250)).isEmpty();
		assertThat(inner(Ending.OWN_EXCEPTION, Touch.Fate.COMMITTED, 350)).contains(Violation.Kind.LOST_UPDATE);
		assertThat(inner(Ending.OWN_EXCEPTION, Touch.Fate.UNKNOWN, 350)).isEmpty();
	}

	@Test
	void snapshotOfOuterTransactionNeedNotSeeItsInnerCommit() {
		List<Accounts.Sale> sales = List.of(sale("1/0" + Accounts.INNER, 10, 1), sale("1/1", 10, 1));
		Call both = call(1, Step.Kind.INNER, Ending.RESULT, touch("1/0" + Accounts.INNER, 10, 0, Touch.Fate.COMMITTED),
				touch("1/1", 10, 0, Touch.Fate.COMMITTED));
		for (Isolation isolation : Isolation.values()) {
			boolean snapshot = isolation == Isolation.REPEATABLE_READ || isolation == Isolation.SNAPSHOT;
			assertThat(Checker.check(new Run.History(plan(Weather.STORM, isolation), List.of(), List.of(both),
					Map.of(KEY, sales), 0, List.of())))
				.hasSize(snapshot ? 0 : 1);
		}
	}

	/**
	 * An inner COMMIT is sent at 200 and answered at 300; another holder reads meanwhile.
	 */
	private static List<Violation.Kind> inner(Ending ending, Touch.Fate fate, long readAt) {
		Call inner = call(1, Step.Kind.INNER, ending,
				new Touch("1/0" + Accounts.INNER, KEY, 10L, 0, fate, 100, 200, 300));
		Call other = call(2, Step.Kind.DECLARATIVE, Ending.RESULT,
				new Touch("2/0", KEY, 10L, 0, Touch.Fate.COMMITTED, readAt, 400, 500));
		return kinds(List.of(inner, other), List.of(sale("1/0" + Accounts.INNER, 10, 1), sale("2/0", 10, 1)));
	}

	@Test
	void tokenOutOfOrderIsFound() {
		assertThat(kinds(List.of(), List.of(sale("1/0", 11, 1), sale("2/0", null, 2), sale("3/0", 10, 3))))
			.containsExactly(Violation.Kind.TOKEN_OUT_OF_ORDER);
	}

	@Test
	void commitAfterTheReadOfASuccessorIsFound() {
		Call reader = call(2, Step.Kind.READ_ONLY, Ending.RESULT, touch(null, 11, 0, Touch.Fate.COMMITTED));
		assertThat(kinds(List.of(reader), List.of(sale("1/0", 10, 1))))
			.containsExactly(Violation.Kind.COMMIT_AFTER_SUCCESSOR);
	}

	@Test
	void commitThatIsNotAsTheNodeWasToldIsFound() {
		assertThat(kinds(List.of(sold(1, 10, 0)), List.of())).containsExactly(Violation.Kind.COMMIT_LOST);
		Call lost = call(1, Step.Kind.DECLARATIVE, Ending.LOST, touch("1/0", 10, 0, Touch.Fate.ROLLED_BACK));
		assertThat(kinds(List.of(lost), List.of(sale("1/0", 10, 1))))
			.containsExactly(Violation.Kind.ROLLBACK_COMMITTED);
		Call unknown = call(1, Step.Kind.DECLARATIVE, Ending.OUTCOME_UNKNOWN, touch("1/0", 10, 0, Touch.Fate.UNKNOWN));
		assertThat(kinds(List.of(unknown), List.of(sale("1/0", 10, 1)))).isEmpty();
		assertThat(kinds(List.of(unknown), List.of())).isEmpty();
	}

	@Test
	void versionWithoutItsSaleIsFound() {
		assertThat(kinds(List.of(), List.of(sale("1/0", 10, 1), sale("3/0", 12, 3))))
			.containsExactly(Violation.Kind.HALF_COMMITTED);
	}

	@Test
	void undocumentedEndAndBodyWithoutLockAreFound() {
		assertThat(kinds(List.of(call(1, Step.Kind.DECLARATIVE, Ending.UNEXPECTED)), List.of()))
			.containsExactly(Violation.Kind.UNEXPECTED_END);
		assertThat(kinds(List.of(call(1, Step.Kind.DECLARATIVE, Ending.NOT_ACQUIRED)), List.of()))
			.containsExactly(Violation.Kind.RAN_WITHOUT_LOCK);
	}

	@Test
	void lossWithoutFaultIsFound() {
		List<Call> calls = List.of(call(1, Step.Kind.DECLARATIVE, Ending.LOST));
		assertThat(kinds(Weather.CALM, calls)).containsExactly(Violation.Kind.FALSE_LOSS);
		assertThat(kinds(Weather.PROCESSES, calls)).containsExactly(Violation.Kind.FALSE_LOSS);
		assertThat(kinds(Weather.SERVERS, calls)).isEmpty();
	}

	@Test
	void holdersAtTheSameTimeAreFound() {
		List<Call> calls = List.of(held(1, 0, 20), held(2, 19, 30));
		assertThat(kinds(Weather.CALM, calls)).containsExactly(Violation.Kind.OVERLAP);
		assertThat(kinds(Weather.STORM, calls)).isEmpty();
	}

	@Test
	void lockThatIsFreeTooLateOrNeverAndLeftoversAreFound() {
		assertThat(end(-1, "a connection")).containsExactly(Violation.Kind.STUCK, Violation.Kind.LEAK);
		assertThat(end(17_000)).containsExactly(Violation.Kind.LATE);
		assertThat(end(1000)).isEmpty();
	}

	private static List<Violation.Kind> end(int freeAfter, String... leftovers) {
		return Checker
			.check(new Run.History(plan(Weather.STORM), List.of(), List.of(), Map.of(), freeAfter, List.of(leftovers)))
			.stream()
			.map(Violation::kind)
			.toList();
	}

	@Test
	void callThatWaitsForTooLongIsFound() {
		Call call = new Call("1", Step.Kind.DECLARATIVE, 0, 0, TimeUnit.SECONDS.toNanos(30), Ending.NOT_ACQUIRED, 0,
				List.of(), List.of(), "", "");
		assertThat(kinds(Weather.NETWORK, List.of(call))).containsExactly(Violation.Kind.OVERDUE);
		assertThat(kinds(Weather.STORM, List.of(call))).isEmpty();
	}

	private static List<Violation.Kind> kinds(Weather weather, List<Call> calls) {
		return kinds(weather, calls, Map.of());
	}

	private static List<Violation.Kind> kinds(List<Call> calls, List<Accounts.Sale> sales) {
		return kinds(Weather.STORM, calls, Map.of(KEY, sales));
	}

	private static List<Violation.Kind> kinds(Weather weather, List<Call> calls,
			Map<String, List<Accounts.Sale>> sales) {
		return Checker.check(new Run.History(plan(weather), List.of(), calls, sales, 0, List.of()))
			.stream()
			.map(Violation::kind)
			.toList();
	}

	private static Plan plan(Weather weather) {
		return plan(weather, Isolation.READ_COMMITTED);
	}

	private static Plan plan(Weather weather, Isolation isolation) {
		Target target = new Target(Backend.JDBC, Database.POSTGRESQL, isolation, Level.FENCE);
		return PlanSource.plan(1, target, weather, Duration.ofSeconds(2));
	}

	private static Accounts.Sale sale(String id, @Nullable Integer token, long version) {
		return new Accounts.Sale(KEY, version, (token != null) ? token.longValue() : null, id);
	}

	private static Touch touch(@Nullable String sale, long token, long version, Touch.Fate fate) {
		return new Touch(sale, KEY, token, version, fate, 0, 1, 2);
	}

	private static Call sold(int id, long token, long version) {
		return call(id, Step.Kind.DECLARATIVE, Ending.RESULT, touch(id + "/0", token, version, Touch.Fate.COMMITTED));
	}

	private static Call call(int id, Step.Kind kind, Ending ending, Touch... touches) {
		return new Call(String.valueOf(id), kind, 0, 0, 1, ending, 1, List.of(touches), List.of(), "", "");
	}

	private static Call held(int id, long from, long to) {
		return new Call(String.valueOf(id), Step.Kind.DECLARATIVE, 0, from, to, Ending.RESULT, 1, List.of(),
				List.of(new Call.Hold(KEY, from, to)), "", "");
	}

}
