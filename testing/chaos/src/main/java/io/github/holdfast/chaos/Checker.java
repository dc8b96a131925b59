package io.github.holdfast.chaos;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * Looks for broken promises in what is left of a run: a sort, and a walk along the
 * versions of each account or the holders of each lock.
 */
final class Checker {

	private static final Set<Ending> LOSSES = EnumSet.of(Ending.LOST, Ending.OVERLAP, Ending.BACKEND_ERROR,
			Ending.OUTCOME_UNKNOWN, Ending.DATABASE_ERROR);

	private static final Set<Fault.Kind> LOST_COUNTERS = EnumSet.of(Fault.Kind.FORGET, Fault.Kind.RESTART_EMPTY,
			Fault.Kind.PROMOTION);

	private static final int MARGIN = 1000;

	private final History history;

	private final List<Violation> violations = new ArrayList<>();

	private final Map<String, Touch.Fate> fates = new HashMap<>();

	private final Map<String, List<Accounts.Sale>> sales = new TreeMap<>();

	private Checker(History history) {
		this.history = history;
		history.calls()
			.forEach((call) -> call.touches()
				.stream()
				.filter((touch) -> touch.sale() != null)
				.forEach((touch) -> this.fates.put(touch.sale(), touch.fate())));
		history.sales().forEach((account, all) -> this.sales.put(account, all.stream().filter(this::counts).toList()));
	}

	/**
	 * What is written without a transaction cannot be taken back. Who loses his lock then
	 * is told, and only who was told of a success counts.
	 */
	private boolean counts(Accounts.Sale sale) {
		return !sale.account().endsWith(Accounts.PLAIN) || this.fates.get(sale.id()) == Touch.Fate.COMMITTED;
	}

	/**
	 * All violations, whatever the level of the run promises.
	 */
	static List<Violation> check(History history) {
		Checker checker = new Checker(history);
		checker.sales.values().forEach(checker::checkVersions);
		checker.checkFates();
		checker.checkReads();
		checker.checkEndings();
		checker.checkHolds();
		checker.checkEnd();
		return checker.violations;
	}

	private void found(Violation.Kind kind, String detail) {
		this.violations.add(new Violation(kind, detail));
	}

	private void checkVersions(List<Accounts.Sale> sales) {
		Accounts.Sale last = null;
		for (Accounts.Sale sale : sales) {
			if (last != null && sale.version() == last.version()) {
				found(Violation.Kind.LOST_UPDATE, last + " and " + sale);
			}
			long previous = (last != null) ? last.version() : 0;
			if (Accounts.hasRow(sale.account()) && sale.version() > previous + 1) {
				found(Violation.Kind.HALF_COMMITTED, sale + " after version " + previous);
			}
			if (last != null && isOutOfOrder(last, sale)) {
				found(Violation.Kind.TOKEN_OUT_OF_ORDER, last + " before " + sale);
			}
			last = (last == null || sale.fencingToken() != null) ? sale
					: new Accounts.Sale(sale.account(), sale.version(), last.fencingToken(), sale.id());
		}
	}

	/**
	 * One call may have several transactions under one token, others never.
	 */
	private static boolean isOutOfOrder(Accounts.Sale earlier, Accounts.Sale later) {
		Long first = earlier.fencingToken();
		Long second = later.fencingToken();
		return first != null && second != null && second < first;
	}

	private void checkFates() {
		Map<String, Accounts.Sale> sales = new HashMap<>();
		this.history.sales().values().forEach((all) -> all.forEach((sale) -> sales.put(sale.id(), sale)));
		for (Call call : this.history.calls()) {
			for (Touch touch : call.touches()) {
				boolean there = sales.containsKey(touch.sale());
				if (touch.sale() != null && touch.fate() == Touch.Fate.COMMITTED && !there) {
					found(Violation.Kind.COMMIT_LOST, touch + " of " + call);
				}
				if (touch.sale() != null && touch.fate() == Touch.Fate.ROLLED_BACK && there) {
					found(Violation.Kind.ROLLBACK_COMMITTED, touch + " of " + call);
				}
			}
		}
	}

	/**
	 * Who has read and committed has seen all that holders before it have committed.
	 */
	private void checkReads() {
		Map<String, TreeMap<Long, Accounts.Sale>> lastByToken = new HashMap<>();
		this.sales.forEach((account, sales) -> {
			TreeMap<Long, Accounts.Sale> tokens = lastByToken.computeIfAbsent(account, (key) -> new TreeMap<>());
			sales.stream()
				.filter((sale) -> sale.fencingToken() != null)
				.forEach((sale) -> tokens.merge(Objects.requireNonNull(sale.fencingToken()), sale,
						(one, other) -> (one.version() > other.version()) ? one : other));
			keepNewest(tokens);
		});
		for (Call call : this.history.calls()) {
			call.touches()
				.stream()
				.filter((touch) -> touch.fate() == Touch.Fate.COMMITTED && touch.fencingToken() != null)
				.forEach((touch) -> checkRead(call, touch, lastByToken.get(touch.account())));
		}
	}

	/**
	 * For each token, the last sale with this one or a smaller one.
	 */
	private static void keepNewest(TreeMap<Long, Accounts.Sale> tokens) {
		Accounts.Sale newest = null;
		for (Map.Entry<Long, Accounts.Sale> entry : tokens.entrySet()) {
			if (newest != null && newest.version() > entry.getValue().version()) {
				entry.setValue(newest);
			}
			newest = entry.getValue();
		}
	}

	private void checkRead(Call call, Touch touch, @Nullable TreeMap<Long, Accounts.Sale> tokens) {
		Map.Entry<Long, Accounts.Sale> earlier = (tokens != null)
				? tokens.lowerEntry(Objects.requireNonNull(touch.fencingToken())) : null;
		if (earlier != null && earlier.getValue().version() > touch.version()) {
			found(Violation.Kind.COMMIT_AFTER_SUCCESSOR, earlier.getValue() + " after " + touch + " of " + call.id());
		}
	}

	private void checkEndings() {
		boolean calm = this.history.plan().faults().isEmpty();
		boolean keepsLocks = keepsLocks();
		for (Call call : this.history.calls()) {
			if (call.ending() == Ending.UNEXPECTED) {
				found(Violation.Kind.UNEXPECTED_END, call.toString());
			}
			if (call.ending() == Ending.NOT_ACQUIRED && call.kind() != Step.Kind.OPTIMISTIC && call.runs() > 0) {
				found(Violation.Kind.RAN_WITHOUT_LOCK, call.toString());
			}
			if (hasSoldWithoutLock(call)) {
				found(Violation.Kind.RAN_WITHOUT_LOCK, call.toString());
			}
			if (!call.left().isEmpty()) {
				found(Violation.Kind.LEAK, call.toString());
			}
			if (calm ? LOSSES.contains(call.ending()) : keepsLocks && isLostTooEarly(call)) {
				found(Violation.Kind.FALSE_LOSS, call.toString());
			}
			if (calm && call.kind() == Step.Kind.SHARED && hasReadDifferently(call)) {
				found(Violation.Kind.OVERLAP, call.toString());
			}
			if (call.runs() == 0 && !call.kind().isAfterOthers() && millis(call) > longestWait(call)) {
				found(Violation.Kind.OVERDUE, call.toString());
			}
		}
	}

	/**
	 * Whether something has committed that saw no lock of its key.
	 */
	private boolean hasSoldWithoutLock(Call call) {
		return this.history.plan().target().level() != Level.NONE && call.kind() != Step.Kind.OPTIMISTIC
				&& call.touches()
					.stream()
					.anyMatch((touch) -> touch.sale() != null && touch.fencingToken() == null
							&& touch.fate() == Touch.Fate.COMMITTED);
	}

	/**
	 * Whether somebody has written while a shared lock was held.
	 */
	private static boolean hasReadDifferently(Call call) {
		return call.touches().stream().mapToLong(Touch::version).distinct().count() > 1;
	}

	/**
	 * Whether nothing else ends a lease than its time. The session of ZooKeeper may have
	 * ended while its process stood still.
	 */
	private boolean keepsLocks() {
		Plan plan = this.history.plan();
		return plan.weather() == Weather.PROCESSES && plan.target().level() == Level.FENCE
				&& plan.target().backend().hasLeases();
	}

	private boolean isLostTooEarly(Call call) {
		return call.ending() == Ending.LOST && !call.kind().givesBackEarly()
				&& millis(call) < this.history.plan().leaseTime() - MARGIN / 10;
	}

	private static long millis(Call call) {
		return TimeUnit.NANOSECONDS.toMillis(call.ended() - call.started());
	}

	/**
	 * A process that stands still does not know how long.
	 */
	private long longestWait(Call call) {
		Weather weather = this.history.plan().weather();
		return (weather == Weather.PROCESSES || weather == Weather.STORM) ? Long.MAX_VALUE
				: Holder.WAIT_TIME.toMillis() * call.kind().locks() + 2 * Servers.MAX_ANSWER_TIME
						+ Holder.POOL_TIME.toMillis() + MARGIN;
	}

	/**
	 * After the faults, a lock is free when the lease of a dead holder is over. Who asks
	 * for it may wait once for an answer that does not come.
	 */
	private void checkEnd() {
		Plan plan = this.history.plan();
		int freeAfter = this.history.freeAfter();
		int limit = (plan.weather().hasShortLeases() || isAnyOutcomeUnknown() ? plan.leaseTime() : 0) + MARGIN
				+ Servers.MAX_ANSWER_TIME;
		if (freeAfter < 0) {
			found(Violation.Kind.STUCK, "a lock was not free after " + Holder.FREE_TIME);
		}
		else if (freeAfter > limit) {
			found(Violation.Kind.LATE, "a lock was not free after " + limit + " ms, but after " + freeAfter);
		}
		this.history.leftovers().forEach((leftover) -> found(Violation.Kind.LEAK, leftover));
	}

	/**
	 * Whether a lock may be kept for its lease at the end, as the outcome of a commit is
	 * unknown.
	 */
	private boolean isAnyOutcomeUnknown() {
		long end = this.history.calls().stream().mapToLong(Call::ended).max().orElse(0);
		long kept = TimeUnit.MILLISECONDS
			.toNanos(this.history.plan().leaseTime() + Math.max(0, this.history.freeAfter()));
		return this.history.calls()
			.stream()
			.anyMatch((call) -> call.ended() > end - kept && call.touches()
				.stream()
				.anyMatch((touch) -> touch.sale() != null && touch.fate() == Touch.Fate.UNKNOWN));
	}

	/**
	 * Under faults, a method may begin after its lease, and after another one of its JVM:
	 * it is not compared with that if it was told of the loss.
	 */
	private void checkHolds() {
		Map<String, List<Held>> byKey = new TreeMap<>();
		for (Call call : this.history.calls()) {
			call.holds()
				.forEach((hold) -> byKey.computeIfAbsent(hold.key(), (key) -> new ArrayList<>())
					.add(new Held(call, hold)));
		}
		byKey.values().forEach((holds) -> {
			holds.sort(Comparator.comparingLong((held) -> held.hold().from()));
			if (this.history.plan().faults().isEmpty()) {
				checkExclusive(holds);
				checkRising(holds);
			}
			if (keepsLocks()) {
				checkTold(holds);
			}
			for (int node = 0; node < Plan.NODES && !mayGrantAgain(); node++) {
				int number = node;
				checkRising(holds.stream()
					.filter((held) -> held.call().node() == number && held.call().ending() != Ending.LOST)
					.toList());
			}
		});
	}

	/**
	 * Whether the epochs may start again. As {@code docs/redis.md} says, a Redis that has
	 * lost its counters goes on from its clock, which may have gone back; an etcd that is
	 * set up anew counts from one. The fence lets nobody commit with an epoch that has
	 * committed; one that was rolled back may come again.
	 */
	private boolean mayGrantAgain() {
		Set<Fault.Kind> kinds = this.history.faults().stream().map(Fault::kind).collect(Collectors.toSet());
		Backend backend = this.history.plan().target().backend();
		return backend == Backend.ETCD && kinds.contains(Fault.Kind.RESTART_EMPTY) || backend.isRedis()
				&& kinds.contains(Fault.Kind.CLOCK_JUMP) && !Collections.disjoint(kinds, LOST_COUNTERS);
	}

	private void checkExclusive(List<Held> holds) {
		Held last = null;
		for (Held held : holds) {
			if (last != null && held.call() != last.call() && held.hold().from() < last.hold().to()
					&& !isRolledBackEarlier(last.call())) {
				found(Violation.Kind.OVERLAP, last + " and " + held);
			}
			last = (last == null || held.hold().to() > last.hold().to()) ? held : last;
		}
	}

	/**
	 * Whether its lock was a transaction that may have been rolled back before its body
	 * had ended.
	 */
	private boolean isRolledBackEarlier(Call call) {
		return this.history.plan().target().backend() == Backend.JDBC && call.ending() != Ending.RESULT;
	}

	/**
	 * Who writes without a transaction is told at the end if another one has begun
	 * before.
	 */
	private void checkTold(List<Held> holds) {
		for (Held held : holds) {
			if (held.call().kind() == Step.Kind.AUDITED && held.call().ending() == Ending.RESULT) {
				holds.stream()
					.filter((later) -> later.hold().fencingToken() > held.hold().fencingToken()
							&& later.hold().from() < held.hold().to())
					.findFirst()
					.ifPresent((later) -> found(Violation.Kind.LOSS_NOT_TOLD, held + " before " + later));
			}
		}
	}

	/**
	 * Of two holders of which one ended before the other began, the later one has the
	 * larger token: always on one node, as another one may have stood still between its
	 * grant and its begin.
	 */
	private void checkRising(List<Held> holds) {
		List<Held> ends = new ArrayList<>(holds);
		ends.sort(Comparator.comparingLong((held) -> held.hold().to()));
		Held largest = null;
		int ended = 0;
		for (Held held : holds) {
			while (ended < ends.size() && ends.get(ended).hold().to() < held.hold().from()) {
				Held end = ends.get(ended++);
				largest = (largest == null || end.hold().fencingToken() > largest.hold().fencingToken()) ? end
						: largest;
			}
			if (largest != null && largest.call() != held.call()
					&& largest.hold().fencingToken() >= held.hold().fencingToken()) {
				found(Violation.Kind.TOKEN_NOT_RISING, largest + " before " + held);
			}
		}
	}

	private record Held(Call call, Call.Hold hold) {

		@Override
		public String toString() {
			return this.hold + " of " + this.call.id() + " " + this.call.kind();
		}

	}

}
