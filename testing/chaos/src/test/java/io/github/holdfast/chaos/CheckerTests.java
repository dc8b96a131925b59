package io.github.holdfast.chaos;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Each promise that is broken in a history is found, and nothing in one in which all are
 * kept.
 */
class CheckerTests {

	private static final String KEY = "row-1";

	@Test
	void nothingIsFoundWhenHoldersCameOneAfterTheOther() {
		assertThat(kinds(List.of(sold(1, 10, 0), sold(2, 11, 1)), List.of(sale(1, 10, 1), sale(2, 11, 2)))).isEmpty();
	}

	@Test
	void lostUpdateIsFound() {
		assertThat(kinds(List.of(), List.of(sale(1, 10, 1), sale(2, 11, 1))))
			.containsExactly(Violation.Kind.LOST_UPDATE);
	}

	@Test
	void tokenOutOfOrderIsFound() {
		assertThat(kinds(List.of(), List.of(sale(1, 11, 1), sale(2, null, 2), sale(3, 10, 3))))
			.containsExactly(Violation.Kind.TOKEN_OUT_OF_ORDER);
	}

	@Test
	void commitAfterTheReadOfASuccessorIsFound() {
		Call reader = call(2, Ending.RESULT, new Touch(null, KEY, 11L, 0, Touch.Fate.COMMITTED));
		assertThat(kinds(List.of(reader), List.of(sale(1, 10, 1))))
			.containsExactly(Violation.Kind.COMMIT_AFTER_SUCCESSOR);
	}

	@Test
	void acknowledgedCommitThatIsNotThereIsFound() {
		assertThat(kinds(List.of(sold(1, 10, 0)), List.of())).containsExactly(Violation.Kind.COMMIT_LOST);
	}

	@Test
	void commitOfWhatWasRolledBackIsFound() {
		Call call = call(1, Ending.LOST, new Touch("1/0", KEY, 10L, 0, Touch.Fate.ROLLED_BACK));
		assertThat(kinds(List.of(call), List.of(sale(1, 10, 1)))).containsExactly(Violation.Kind.ROLLBACK_COMMITTED);
	}

	@Test
	void versionWithoutItsSaleIsFound() {
		assertThat(kinds(List.of(), List.of(sale(1, 10, 1), sale(3, 12, 3))))
			.containsExactly(Violation.Kind.HALF_COMMITTED);
		assertThat(kinds(List.of(), List.of(sale(2, 11, 2)))).containsExactly(Violation.Kind.HALF_COMMITTED);
	}

	@Test
	void commitOfWhatIsUnknownIsNoViolation() {
		Call call = call(1, Ending.OUTCOME_UNKNOWN, new Touch("1/0", KEY, 10L, 0, Touch.Fate.UNKNOWN));
		assertThat(kinds(List.of(call), List.of(sale(1, 10, 1)))).isEmpty();
		assertThat(kinds(List.of(call), List.of())).isEmpty();
	}

	@Test
	void undocumentedEndIsFound() {
		assertThat(kinds(List.of(call(1, Ending.UNEXPECTED)), List.of()))
			.containsExactly(Violation.Kind.UNEXPECTED_END);
	}

	@Test
	void bodyWithoutLockIsFound() {
		assertThat(kinds(List.of(call(1, Ending.NOT_ACQUIRED)), List.of()))
			.containsExactly(Violation.Kind.RAN_WITHOUT_LOCK);
	}

	@Test
	void commitWithoutLockIsFound() {
		Touch touch = new Touch("1/0", KEY, null, 0, Touch.Fate.COMMITTED);
		assertThat(kinds(List.of(call(1, Ending.RESULT, touch)), List.of(sale(1, null, 1))))
			.containsExactly(Violation.Kind.RAN_WITHOUT_LOCK);
	}

	@Test
	void lossWithoutFaultIsFound() {
		assertThat(kinds(Weather.CALM, List.of(call(1, Ending.LOST)), List.of()))
			.containsExactly(Violation.Kind.FALSE_LOSS);
	}

	@Test
	void holdersAtTheSameTimeAreFound() {
		List<Call> calls = List.of(held(1, 10, 0, 20), held(2, 11, 19, 30));
		assertThat(kinds(Weather.CALM, calls, List.of())).containsExactly(Violation.Kind.OVERLAP);
		assertThat(kinds(calls, List.of())).isEmpty();
	}

	@Test
	void bodyThatGoesOnAfterTheRollbackOfItsTransactionIsNoViolation() {
		Call first = held(1, 11, 0, 20);
		Call refused = new Call("1", first.kind(), 0, 0, 20, Ending.OWN_EXCEPTION, 1, List.of(), first.holds(), "", "");
		assertThat(kinds(Weather.CALM, List.of(refused, held(2, 12, 19, 30)), List.of())).isEmpty();
	}

	@Test
	void tokenThatDoesNotRiseIsFound() {
		assertThat(kinds(List.of(held(1, 11, 0, 20), held(2, 11, 21, 30)), List.of()))
			.containsExactly(Violation.Kind.TOKEN_NOT_RISING);
	}

	@Test
	void tokenThatComesAgainFromARedisWithoutCountersAndWithAClockThatWentBackIsNoViolation() {
		assertThat(kindsOfTokenAgain(Backend.REDIS, Fault.Kind.CLOCK_JUMP, Fault.Kind.PROMOTION)).isEmpty();
		assertThat(kindsOfTokenAgain(Backend.REDIS, Fault.Kind.PROMOTION))
			.containsExactly(Violation.Kind.TOKEN_NOT_RISING);
	}

	@Test
	void tokenThatComesAgainFromAnEtcdThatWasSetUpAnewIsNoViolation() {
		assertThat(kindsOfTokenAgain(Backend.ETCD, Fault.Kind.RESTART_EMPTY)).isEmpty();
		assertThat(kindsOfTokenAgain(Backend.ETCD, Fault.Kind.RESTART))
			.containsExactly(Violation.Kind.TOKEN_NOT_RISING);
	}

	private static List<Violation.Kind> kindsOfTokenAgain(Backend backend, Fault.Kind... kinds) {
		Target target = new Target(backend, TestDatabase.MARIADB, Isolation.READ_COMMITTED, Level.FENCE);
		Plan plan = PlanSource.plan(1, target, Weather.STORM, Duration.ofSeconds(1));
		List<Fault> faults = Stream.of(kinds).map((kind) -> new Fault(0, kind, 0, 10)).toList();
		List<Call> calls = List.of(held(1, 11, 0, 20), held(2, 11, 21, 30));
		return Checker.check(new History(plan, faults, calls, Map.of(), 0, List.of()))
			.stream()
			.map(Violation::kind)
			.toList();
	}

	@Test
	void tokenOfAnotherNodeThatDoesNotRiseIsFoundIfNoneStoodStill() {
		Call other = new Call("2", Step.Kind.DECLARATIVE, 1, 21, 30, Ending.RESULT, 1, List.of(),
				List.of(new Call.Hold(KEY, 11, 21, 30)), "", "");
		List<Call> calls = List.of(held(1, 11, 0, 20), other);
		assertThat(kinds(Weather.CALM, calls, List.of())).containsExactly(Violation.Kind.TOKEN_NOT_RISING);
		assertThat(kinds(calls, List.of())).isEmpty();
	}

	@Test
	void writeUnderASharedLockIsFound() {
		Call shared = new Call("1", Step.Kind.SHARED, 0, 0, 20, Ending.RESULT, 1,
				List.of(new Touch(null, KEY, null, 1, Touch.Fate.COMMITTED),
						new Touch(null, KEY, null, 2, Touch.Fate.COMMITTED)),
				List.of(), "", "");
		assertThat(kinds(Weather.CALM, List.of(shared), List.of())).containsExactly(Violation.Kind.OVERLAP);
		assertThat(kinds(List.of(shared), List.of())).isEmpty();
	}

	@Test
	void lockThatIsNeverFreeAndConnectionInUseAreFound() {
		assertThat(Checker
			.check(new History(plan(Weather.STORM), List.of(), List.of(), Map.of(), -1, List.of("a connection"))))
			.extracting(Violation::kind)
			.containsExactly(Violation.Kind.STUCK, Violation.Kind.LEAK);
	}

	@Test
	void lossWithinTheLeaseIsFoundIfNothingElseEndsIt() {
		assertThat(kinds(Weather.PROCESSES, List.of(call(1, Ending.LOST)), List.of()))
			.containsExactly(Violation.Kind.FALSE_LOSS);
		assertThat(kinds(Weather.SERVERS, List.of(call(1, Ending.LOST)), List.of())).isEmpty();
	}

	@Test
	void callThatWaitsForTooLongIsFound() {
		Call call = new Call("1", Step.Kind.DECLARATIVE, 0, 0, TimeUnit.SECONDS.toNanos(20), Ending.NOT_ACQUIRED, 0,
				List.of(), List.of(), "", "");
		assertThat(kinds(Weather.NETWORK, List.of(call), List.of())).containsExactly(Violation.Kind.OVERDUE);
		assertThat(kinds(Weather.STORM, List.of(call), List.of())).isEmpty();
	}

	@Test
	void plainWritesThatMeetAreFoundIfNobodyIsTold() {
		String account = KEY + Accounts.PLAIN;
		Touch first = new Touch("1/0", account, 10L, 0, Touch.Fate.COMMITTED);
		Touch second = new Touch("2/0", account, 11L, 0, Touch.Fate.COMMITTED);
		Map<String, List<Accounts.Sale>> sales = Map.of(account,
				List.of(new Accounts.Sale(account, 1, 10L, "1/0"), new Accounts.Sale(account, 1, 11L, "2/0")));
		assertThat(kinds(List.of(call(1, Ending.RESULT, first), call(2, Ending.RESULT, second)), sales))
			.contains(Violation.Kind.LOST_UPDATE);
		assertThat(
				kinds(List.of(call(1, Ending.OVERLAP, first.with(Touch.Fate.UNKNOWN)), call(2, Ending.RESULT, second)),
						sales))
			.isEmpty();
	}

	@Test
	void lockThatIsFreeTooLateIsFound() {
		assertThat(Checker.check(new History(plan(Weather.STORM), List.of(), List.of(), Map.of(), 7000, List.of())))
			.extracting(Violation::kind)
			.containsExactly(Violation.Kind.LATE);
	}

	@Test
	void lossOfWhichTheCallerIsNotToldIsFound() {
		Call audited = new Call("1", Step.Kind.AUDITED, 0, 0, 20, Ending.RESULT, 1, List.of(),
				List.of(new Call.Hold(KEY, 10, 0, 20)), "", "");
		assertThat(kinds(Weather.PROCESSES, List.of(audited, held(2, 11, 19, 30)), List.of()))
			.containsExactly(Violation.Kind.LOSS_NOT_TOLD);
		assertThat(kinds(Weather.PROCESSES, List.of(audited, held(2, 11, 21, 30)), List.of())).isEmpty();
	}

	private static List<Violation.Kind> kinds(List<Call> calls, Map<String, List<Accounts.Sale>> sales) {
		return Checker.check(new History(plan(Weather.STORM), List.of(), calls, sales, 0, List.of()))
			.stream()
			.map(Violation::kind)
			.toList();
	}

	private static List<Violation.Kind> kinds(List<Call> calls, List<Accounts.Sale> sales) {
		return kinds(Weather.STORM, calls, sales);
	}

	private static List<Violation.Kind> kinds(Weather weather, List<Call> calls, List<Accounts.Sale> sales) {
		Map<String, List<Accounts.Sale>> byAccount = sales.isEmpty() ? Map.of() : Map.of(KEY, sales);
		return Checker.check(new History(plan(weather), List.of(), calls, byAccount, 0, List.of()))
			.stream()
			.map(Violation::kind)
			.toList();
	}

	private static Plan plan(Weather weather) {
		Target target = new Target(Backend.JDBC, TestDatabase.MARIADB, Isolation.READ_COMMITTED, Level.FENCE);
		return PlanSource.plan(1, target, weather, Duration.ofSeconds(1));
	}

	private static Accounts.Sale sale(int call, @Nullable Integer token, long version) {
		return new Accounts.Sale(KEY, version, (token != null) ? token.longValue() : null, call + "/0");
	}

	private static Call sold(int id, long token, long version) {
		return call(id, Ending.RESULT, new Touch(id + "/0", KEY, token, version, Touch.Fate.COMMITTED));
	}

	private static Call call(int id, Ending ending, Touch... touches) {
		return new Call(String.valueOf(id), Step.Kind.DECLARATIVE, 0, 0, 1, ending, 1, List.of(touches), List.of(), "",
				"");
	}

	private static Call held(int id, long token, long from, long to) {
		return new Call(String.valueOf(id), Step.Kind.DECLARATIVE, 0, from, to, Ending.RESULT, 1, List.of(),
				List.of(new Call.Hold(KEY, token, from, to)), "", "");
	}

}
