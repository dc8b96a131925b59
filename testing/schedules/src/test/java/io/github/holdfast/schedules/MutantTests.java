package io.github.holdfast.schedules;

import java.io.IOException;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import io.github.holdfast.core.HeldSchedules;
import io.github.holdfast.store.HandoverSchedules;
import io.github.holdfast.store.KeyedPermitsSchedules;
import io.github.holdfast.store.LeaseSchedules;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The tests find mistakes in the classes that they are about.
 */
@Tag("long")
class MutantTests {

	static final Exploration.Bounds BOUNDS = new Exploration.Bounds(1, 5000, 5000, 1);

	private static final String PACKAGE = "io.github.holdfast.";

	static Stream<Case> cases() {
		return Stream.of(permits(), handover(), leases(), held()).flatMap((cases) -> cases);
	}

	private static Stream<Case> permits() {
		Class<?> test = KeyedPermitsSchedules.class;
		String permits = "store.KeyedPermits";
		String state = "store.PermitState";
		return Stream.of(new Case("a waiter that was granted the permit is not woken", permits, """
				if (granted != null) {
					LockSupport.unpark(granted.taker);
				}""", "", test, "oneHolderAtATimeAndNoneWaitsForEver"),
				new Case("who is handed the permit is not woken", permits, "LockSupport.unpark(next.taker);", "", test,
						"whatIsHandedOverReachesOneOfThoseWhoWait"),
				new Case("an interrupted waiter leaves without what it was granted", permits,
						"granted = leave(key, waiter);", "leave(key, waiter);", test,
						"aWaiterThatIsInterruptedLosesNothing"),
				new Case("a waiter whose time is over leaves without what it was granted", permits,
						"return leave(key, waiter);", "leave(key, waiter);\nreturn null;", test,
						"aWaiterWhoseTimeIsOverLosesNothing"),
				new Case("who leaves does not claim what it was granted", permits, """
						// Otherwise one who barges in would put it back
						waiter.claim();""", "", test, "aWaiterWhoseTimeIsOverLosesNothing"),
				new Case("who leaves stays in the queue", permits, "held.waiters.leave(waiter);", "", test,
						"aWaiterWhoseTimeIsOverLosesNothing"),
				new Case("a permit is claimed although another one has barged in", state,
						"|| this.phase.get() != Phase.BARGED", "|| true", test, "oneHolderAtATimeAndNoneWaitsForEver"),
				new Case("others barge in without a limit", permits, "&& sleeper.barging.canBeMore()", "", test,
						"othersBargeInOnlySoOften"),
				new Case("others barge in before one who wants the strict order", permits, "!sleeper.fair && ", "",
						test, "theStrictOrderIsThatOfTheArrival"),
				new Case("the strict order is forgotten", "store.PermitQueue", "this.ordered |= waiter.fair;", "", test,
						"theStrictOrderIsThatOfTheArrival"),
				new Case("who was barged in before is the last", permits, "this.waiters.addFirst(sleeper);",
						"this.waiters.join(sleeper);", test, "othersBargeInOnlySoOften"),
				new Case("a permit is released twice", state,
						"return this.phase.compareAndSet(Phase.CLAIMED, Phase.RELEASED)",
						"return isHeld() && this.phase.getAndSet(Phase.RELEASED) != Phase.BARGED", test,
						"whatHasRunOutIsTakenOverOnce"),
				new Case("a permit is handed over that has run out", permits,
						"|| this.waiters.isEmpty() || !this.state.release()", "|| this.waiters.isEmpty()", test,
						"whatHasRunOutIsTakenOverOnce"),
				new Case("more wait than may", permits,
						"limits.check(this.waiters.size(), KeyedPermits.this.waiting.get());", "", test,
						"noMoreWaitThanMay"));
	}

	private static Stream<Case> handover() {
		Class<?> test = HandoverSchedules.class;
		String cohort = "store.Cohort";
		String gate = "store.RenewalGate";
		String backend = "store.HandoverLockBackend";
		return Stream.of(
				new Case("the turn does not rise", cohort, "int turn = this.turn + 1;",
						"int turn = Math.max(0, this.turn);", test, "aLeaseGoesFromThreadToThread"),
				new Case("a turn goes on after it was handed over", cohort, "turnEnds.run();", "", test,
						"aLeaseGoesFromThreadToThread"),
				new Case("the next thread is let in before the store has answered to the release", cohort,
						"permit.releasesSoon();", "permit.releaseWith(this);", test, "aLeaseGoesFromThreadToThread"),
				new Case("nobody is let in when the store has answered to the release", cohort, """
						finally {
							permit.releaseWith(this);
						}""", "finally {\n}", test, "aLeaseGoesFromThreadToThread"),
				new Case("a lease goes from thread to thread without end", cohort, "&& !isAtItsLimits()", "", test,
						"aLeaseIsGivenBackToTheStoreAtItsLimits"),
				new Case("who is interrupted keeps the lease that was handed over", backend, "earlier.decline(permit);",
						"permit.release();", test, "whoIsInterruptedLosesNothing"),
				new Case("who gets no lease keeps the permit", backend, """
						if (lease == null) {
							permit.release();
						}""", "", test, "aStoreThatFailsKeepsNobodyWaiting"),
				new Case("a turn is renewed after it has ended", gate, "if (over.getAsBoolean()) {", "if (false) {",
						test, "aRenewalIsOverBeforeTheNextTurn"),
				new Case("a lease is handed over while it is renewed", gate, """
						if (this.underWay > 0 || this.doubtful) {""", """
						if (this.doubtful) {""", test, "aRenewalIsOverBeforeTheNextTurn"),
				new Case("a lease in doubt is handed over", gate, "if (this.underWay > 0 || this.doubtful) {",
						"if (this.underWay > 0) {", test, "aLeaseThatIsInDoubtIsNotHandedOver"));
	}

	private static Stream<Case> leases() {
		Class<?> test = LeaseSchedules.class;
		String lease = "store.ExpiringLease";
		return Stream.of(new Case("the answer to one renewal replaces the time of a later one", lease, """
				if (!earlier.isDone() || !this.renewal.compareAndSet(earlier, renewal)) {
					return this.renewal.get();
				}""", "this.renewal.set(renewal);", test, "aLeaseIsValidOnlyWhileTheStoreHasIt"), new Case(
				"a lease is counted from the answer", lease,
				"""
						mayEnd(renewed);
						Releases.attempt(() -> extend(leaseTime))
							.whenComplete((extended, failure) -> Answers.follow(renewal, failure == null && extended(extended, renewed),
									failure));""",
				"""
						Releases.attempt(() -> extend(leaseTime))
							.whenComplete((extended, failure) -> Answers.follow(renewal,
									failure == null && extended(extended, Deadline.ofLease(leaseTime)), failure));""",
				test, "aLeaseIsValidOnlyWhileTheStoreHasIt"), new Case("a lease is valid after its release", lease, """
						this.ended = true;
						boolean first""", "boolean first", test, "aLeaseIsReleasedOnceAndOverThen"),
				new Case("a lease is released by two", lease, "this.released.compareAndSet(false, true)",
						"!this.released.getAndSet(false)", test, "aLeaseIsReleasedOnceAndOverThen"),
				new Case("a release that failed is not repeated again", "store.Releases",
						"again(key, end, release, next(pause));", "", test, "aReleaseThatFailsIsRepeated"),
				new Case("a release is repeated after the end of its lease", "store.Releases",
						"if (end.remaining().compareTo(pause) <= 0) {", "if (false) {", test,
						"noReleaseIsRepeatedAfterTheEndOfTheLeaseOrOfTheStore"));
	}

	private static Stream<Case> held() {
		Class<?> test = HeldSchedules.class;
		String lease = "core.HeldLease";
		String engine = "core.LockEngine";
		return Stream.of(
				new Case("the renewal goes on after the release", lease, """
						stopRenewal();
						return undisturbed(this.lease::release);""", "return undisturbed(this.lease::release);", test,
						"aLockIsRenewedUntilItIsReleased"),
				new Case("what was handed over is told as lost", lease, "synchronized boolean handOver()",
						"boolean handOver()", test, "aLockIsRenewedUntilItIsReleased"),
				new Case("a lease is renewed only once", lease, "return leaseNanos() / 3;", "return 0;", test,
						"aLockIsRenewedUntilItIsReleased"),
				new Case("a renewal that failed is not tried again", lease, """
						this.events.renewalFailed(failure);
						return leaseNanos() / 10;""", "return 0;", test, "aStoreThatDoesNotAnswerIsAskedAgain"),
				new Case("a loss is told of a call that has not begun", "core.LockEvents",
						"this.state == State.HELD && this.lost.add(key)", "this.lost.add(key)", test,
						"aLossIsToldOnce"),
				new Case("a loss is told after the end", "core.LockEvents", "return this.toldElsewhere;",
						"return false;", test, "aLossIsToldOnce"),
				new Case("a minimum hold time is cut", lease, "return this.lease.renew(time);",
						"return this.lease.isValid();", test, "aMinimumHoldTimeIsKept"),
				new Case("drained although a call has not ended", engine,
						"if (!this.draining || this.calls.get() > 0) {", "if (!this.draining) {", test,
						"drainedWhenTheLastCallHasEnded"),
				new Case("the last call does not complete the drain", engine, """
						this.calls.decrementAndGet();
						completeIfDrained();""", "this.calls.decrementAndGet();", test,
						"drainedWhenTheLastCallHasEnded"),
				new Case("who waits is not told of the drain", engine, "this.openCalls.cancelWaits();", "", test,
						"whoWaitsIsToldOfTheDrain"),
				new Case("the interrupt of a drain stays with the thread", "core.OpenCalls", """
						if (this.cancelled) {
							Thread.interrupted();
						}""", "", test, "whoWaitsIsToldOfTheDrain"),
				new Case("a drain that is taken back does not complete", engine, """
						this.drained = new CompletableFuture<>();
						}
						LockOwner.forgetProcess();
						drained.complete(null);""", "this.drained = new CompletableFuture<>();\n}", test,
						"aDrainIsTakenBack"),
				new Case("what was acquired during the end is not given back", "core.LockAcquisition",
						"lease.release().toCompletableFuture().join();", "", test, "nothingIsAcquiredAfterTheEnd"));
	}

	@ParameterizedTest
	@MethodSource("cases")
	void aMistakeIsFound(Case one) throws Exception {
		Exploration exploration = one.exploration();
		AssertionError failure = exploration.run(BOUNDS);
		System.out.println(one + ": " + exploration);
		assertThat(failure).isNotNull();
	}

	record Case(Mutant mutant, Class<?> test, String method) {

		private Case(String mistake, String className, String right, String wrong, Class<?> test, String method) {
			this(new Mutant(mistake, PACKAGE + className, right, wrong), test, method);
		}

		Exploration exploration() throws IOException {
			return new Exploration(this.mutant.compile(), this.test.getName(), this.method);
		}

		@Override
		public String toString() {
			return this.mutant.toString();
		}

	}

}
