package io.github.holdfast.chaos;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * Looks for broken promises in what is left of a run.
 */
final class Checker {

	private static final Set<Ending> LOSSES = EnumSet.of(Ending.LOST, Ending.OVERLAP, Ending.BACKEND_ERROR,
			Ending.OUTCOME_UNKNOWN, Ending.DATABASE_ERROR);

	/** The machine may be busy with other things. */
	private static final int MARGIN = 10_000;

	private final Run.History history;

	private final List<Violation> violations = new ArrayList<>();

	/** What nodes have written down of sales, which is nothing if they were killed. */
	private final Map<String, Noted> noted = new HashMap<>();

	private Checker(Run.History history) {
		this.history = history;
		history.calls().forEach((call) -> call.touches().forEach((touch) -> {
			if (touch.sale() != null) {
				this.noted.put(touch.sale(), new Noted(call, touch));
			}
		}));
	}

	/**
	 * All violations, whatever the level of the run promises.
	 */
	static List<Violation> check(Run.History history) {
		Checker checker = new Checker(history);
		history.sales().values().forEach(checker::checkVersions);
		checker.checkFates();
		checker.checkReads();
		history.calls().forEach(checker::checkCall);
		if (history.plan().faults().isEmpty()) {
			checker.checkExclusive();
		}
		checker.checkEnd();
		return checker.violations;
	}

	private void found(Violation.Kind kind, String detail) {
		this.violations.add(new Violation(kind, detail));
	}

	private void checkVersions(List<Accounts.Sale> sales) {
		Accounts.Sale last = null;
		Accounts.Sale lastWithToken = null;
		for (Accounts.Sale sale : sales) {
			if (last != null && sale.version() == last.version() && !isException(last, sale)
					&& !isException(sale, last)) {
				found(Violation.Kind.LOST_UPDATE, last + " and " + sale);
			}
			long previous = (last != null) ? last.version() : 0;
			if (Accounts.hasRow(sale.account()) && sale.version() > previous + 1) {
				found(Violation.Kind.HALF_COMMITTED, sale + " after version " + previous);
			}
			Long token = sale.token();
			if (token != null && lastWithToken != null && token < Objects.requireNonNull(lastWithToken.token())
					&& !sale.isInner() && !lastWithToken.isInner()) {
				found(Violation.Kind.TOKEN_OUT_OF_ORDER, lastWithToken + " before " + sale);
			}
			last = sale;
			lastWithToken = (token != null) ? sale : lastWithToken;
		}
	}

	/**
	 * What a transaction inside of another one commits is covered only if the outer one
	 * commits, too. Without that, an optimistic holder or one that has lost its lease of
	 * another store may not see it, and any other one that reads between the time before
	 * the inner COMMIT and the answer.
	 */
	private boolean isException(Accounts.Sale inner, Accounts.Sale other) {
		Noted sale = this.noted.get(inner.id());
		if (!inner.isInner() || sale != null && sale.call().ending() == Ending.RESULT) {
			return false;
		}
		Noted holder = this.noted.get(other.id());
		if (sale == null || holder == null || holder.call().kind() == Step.Kind.OPTIMISTIC
				|| this.history.plan().target().backend() == Backend.REDIS) {
			return true;
		}
		long readAt = holder.touch().readAt();
		return readAt > sale.touch().doneAt()
				&& (sale.touch().fate() == Touch.Fate.UNKNOWN || readAt < sale.touch().endedAt());
	}

	private void checkFates() {
		Map<String, Accounts.Sale> sales = new HashMap<>();
		this.history.sales().values().forEach((all) -> all.forEach((sale) -> sales.put(sale.id(), sale)));
		this.noted.forEach((id, sale) -> {
			Touch.Fate fate = sale.touch().fate();
			if (fate == Touch.Fate.COMMITTED && !sales.containsKey(id)) {
				found(Violation.Kind.COMMIT_LOST, sale.toString());
			}
			if (fate == Touch.Fate.ROLLED_BACK && sales.containsKey(id)) {
				found(Violation.Kind.ROLLBACK_COMMITTED, sale.toString());
			}
		});
	}

	/**
	 * A transaction that has read and committed has seen all that earlier holders have
	 * committed.
	 */
	private void checkReads() {
		Map<String, TreeMap<Long, Accounts.Sale>> lastByToken = new HashMap<>();
		this.history.sales().forEach((account, sales) -> {
			TreeMap<Long, Accounts.Sale> tokens = lastByToken.computeIfAbsent(account, (key) -> new TreeMap<>());
			sales.stream()
				.filter((sale) -> sale.token() != null && !sale.isInner())
				.forEach((sale) -> tokens.put(Objects.requireNonNull(sale.token()), sale));
			Accounts.Sale newest = null;
			for (Map.Entry<Long, Accounts.Sale> entry : tokens.entrySet()) {
				newest = (newest == null || newest.version() < entry.getValue().version()) ? entry.getValue() : newest;
				entry.setValue(newest);
			}
		});
		for (Call call : this.history.calls()) {
			for (Touch touch : call.touches()) {
				TreeMap<Long, Accounts.Sale> tokens = lastByToken.get(touch.account());
				Map.Entry<Long, Accounts.Sale> earlier = (tokens != null && touch.token() != null
						&& touch.fate() == Touch.Fate.COMMITTED) ? tokens.lowerEntry(touch.token()) : null;
				if (earlier != null && earlier.getValue().version() > touch.version()
						&& !String.valueOf(touch.sale()).endsWith(Accounts.INNER)) {
					found(Violation.Kind.COMMIT_AFTER_SUCCESSOR,
							earlier.getValue() + " after " + touch + " of " + call.id());
				}
			}
		}
	}

	/**
	 * MariaDB refuses an UPDATE of a row that an optimistic call has changed, even if it
	 * has not committed. Optimistic calls repeat.
	 */
	private static boolean isRefusedBySnapshots(Plan plan, Call call) {
		return plan.target().isolation() == Isolation.SNAPSHOT && call.kind() != Step.Kind.OPTIMISTIC
				&& call.ending() == Ending.DATABASE_ERROR;
	}

	/**
	 * An interrupt cancels the question for the fencing token.
	 */
	private static boolean isCancelled(Call call) {
		return call.kind() == Step.Kind.INTERRUPT && call.ending() == Ending.BACKEND_ERROR;
	}

	private void checkCall(Call call) {
		Plan plan = this.history.plan();
		boolean calm = plan.faults().isEmpty();
		if (call.ending() == Ending.UNEXPECTED) {
			found(Violation.Kind.UNEXPECTED_END, call.toString());
		}
		if (call.ending() == Ending.NOT_ACQUIRED && call.kind() != Step.Kind.OPTIMISTIC && call.runs() > 0
				|| hasSoldWithoutLock(call)) {
			found(Violation.Kind.RAN_WITHOUT_LOCK, call.toString());
		}
		if (!call.left().isEmpty()) {
			found(Violation.Kind.LEAK, call.toString());
		}
		boolean refused = call.kind().isRefusedByDatabases() || plan.target().isolation() == Isolation.SERIALIZABLE
				|| isRefusedBySnapshots(plan, call) || isCancelled(call);
		boolean tooEarly = plan.weather() == Weather.PROCESSES && plan.target().level() == Level.FENCE
				&& call.ending() == Ending.LOST && millis(call) < plan.leaseTime() - MARGIN / 100;
		if (tooEarly || calm && !refused && LOSSES.contains(call.ending())) {
			found(Violation.Kind.FALSE_LOSS, call.toString());
		}
		if (call.runs() == 0 && !call.kind().isAfterOthers() && millis(call) > longestWait(call)) {
			found(Violation.Kind.OVERDUE, call.toString());
		}
	}

	private boolean hasSoldWithoutLock(Call call) {
		return this.history.plan().target().level() != Level.NONE && call.kind() != Step.Kind.OPTIMISTIC && call
			.touches()
			.stream()
			.anyMatch((touch) -> touch.sale() != null && touch.token() == null && touch.fate() == Touch.Fate.COMMITTED);
	}

	private static long millis(Call call) {
		return TimeUnit.NANOSECONDS.toMillis(call.ended() - call.started());
	}

	/**
	 * A process that is paused does not know for how long.
	 */
	private long longestWait(Call call) {
		Weather weather = this.history.plan().weather();
		return weather.places.contains(Fault.Place.NODE) ? Long.MAX_VALUE
				: Holder.WAIT_TIME.toMillis() * call.kind().locks() + 2 * Servers.MAX_ANSWER_TIME
						+ Holder.POOL_TIME.toMillis() + MARGIN;
	}

	private void checkExclusive() {
		Map<String, List<Held>> byKey = new TreeMap<>();
		this.history.calls()
			.forEach((call) -> call.holds()
				.forEach((hold) -> byKey.computeIfAbsent(hold.key(), (key) -> new ArrayList<>())
					.add(new Held(call, hold))));
		byKey.values().forEach((holds) -> {
			holds.sort(Comparator.comparingLong((held) -> held.hold().from()));
			Held last = null;
			for (Held held : holds) {
				// A transaction that was the lock may have been rolled back before its
				// body had ended
				if (last != null && held.call() != last.call() && held.hold().from() < last.hold().to()
						&& last.call().ending() == Ending.RESULT) {
					found(Violation.Kind.OVERLAP, last + " and " + held);
				}
				last = (last == null || held.hold().to() > last.hold().to()) ? held : last;
			}
		});
	}

	/**
	 * After the faults, a lock is free when the lease of a dead holder is over. A caller
	 * may wait once for an answer that does not come.
	 */
	private void checkEnd() {
		Plan plan = this.history.plan();
		int freeAfter = this.history.freeAfter();
		int limit = (plan.faults().isEmpty() ? 0 : plan.leaseTime()) + MARGIN + Servers.MAX_ANSWER_TIME;
		if (freeAfter < 0) {
			found(Violation.Kind.STUCK, "a lock was not free after " + Holder.FREE_TIME);
		}
		else if (freeAfter > limit) {
			found(Violation.Kind.LATE, "a lock was not free after " + limit + " ms, but after " + freeAfter);
		}
		this.history.leftovers().forEach((leftover) -> found(Violation.Kind.LEAK, leftover));
	}

	private record Noted(Call call, Touch touch) {

	}

	private record Held(Call call, Call.Hold hold) {

		@Override
		public String toString() {
			return this.hold + " of " + this.call.id() + " " + this.call.kind();
		}

	}

}
