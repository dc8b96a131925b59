package io.github.holdfast.chaos;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Looks for broken promises in what is left of a run. */
final class Checker {

	private static final Set<Ending> LOSSES = EnumSet.of(Ending.LOST, Ending.OVERLAP, Ending.BACKEND_ERROR,
			Ending.OUTCOME_UNKNOWN, Ending.DATABASE_ERROR);

	private static final int MARGIN = 10_000;

	private final Run.History history;

	private final Plan plan;

	private final boolean calm;

	private final List<Violation> violations = new ArrayList<>();

	/** What nodes have written down of sales, which is nothing if they were killed. */
	private final Map<String, Noted> noted = new HashMap<>();

	private Checker(Run.History history) {
		this.history = history;
		this.plan = history.plan();
		this.calm = this.plan.faults().isEmpty();
		history.calls().forEach((call) -> call.touches().forEach((touch) -> {
			if (touch.sale() != null) {
				this.noted.put(touch.sale(), new Noted(call, touch));
			}
		}));
	}

	/** All violations, whatever the level of the run promises. */
	static List<Violation> check(Run.History history) {
		Checker checker = new Checker(history);
		history.sales().values().forEach(checker::checkVersions);
		checker.checkFates();
		checker.checkReads();
		history.calls().forEach(checker::checkCall);
		checker.checkExclusive();
		checker.checkEnd();
		return checker.violations;
	}

	private void check(boolean broken, Violation.Kind kind, Object... details) {
		if (broken) {
			this.violations
				.add(new Violation(kind, String.join(" ", List.of(details).stream().map(Object::toString).toList())));
		}
	}

	private void checkVersions(List<Accounts.Sale> sales) {
		Accounts.Sale last = null;
		Accounts.Sale lastWithToken = null;
		for (Accounts.Sale sale : sales) {
			if (last != null) {
				check(sale.version() == last.version() && !isException(last, sale) && !isException(sale, last)
						&& !isOfOneSnapshot(last, sale), Violation.Kind.LOST_UPDATE, last, "and", sale);
			}
			long previous = (last != null) ? last.version() : 0;
			check(Accounts.hasRow(sale.account()) && sale.version() > previous + 1, Violation.Kind.HALF_COMMITTED, sale,
					"after version", previous);
			if (sale.token() != null && lastWithToken != null) {
				check(sale.token() < Objects.requireNonNull(lastWithToken.token()) && !sale.isInner()
						&& !lastWithToken.isInner(), Violation.Kind.TOKEN_OUT_OF_ORDER, lastWithToken, "before", sale);
			}
			last = sale;
			lastWithToken = (sale.token() != null) ? sale : lastWithToken;
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
		if (!inner.isInner() || sale != null && sale.call.ending() == Ending.RESULT) {
			return false;
		}
		Noted holder = this.noted.get(other.id());
		if (sale == null || holder == null || holder.call.kind() == Step.Kind.OPTIMISTIC
				|| this.plan.target().backend() == Backend.REDIS) {
			return true;
		}
		long readAt = holder.touch.readAt();
		return readAt > sale.touch.doneAt()
				&& (sale.touch.fate() == Touch.Fate.UNKNOWN || readAt < sale.touch.endedAt());
	}

	/**
	 * The snapshot of an outer transaction may begin with its lock, so that it does not
	 * see what its own inner one has committed. At SERIALIZABLE, PostgreSQL notices that.
	 */
	private boolean isOfOneSnapshot(Accounts.Sale sale, Accounts.Sale other) {
		Target target = this.plan.target();
		boolean beginsWithLock = switch (target.database()) {
			case POSTGRESQL -> target.isolation() != Isolation.SERIALIZABLE;
			case H2 -> true;
			default -> false;
		};
		return beginsWithLock && target.isolation() != Isolation.READ_COMMITTED && sale.isInner() != other.isInner()
				&& sale.call().equals(other.call());
	}

	private void checkFates() {
		Set<String> sales = new HashSet<>();
		this.history.sales().values().forEach((all) -> all.forEach((sale) -> sales.add(sale.id())));
		this.noted.forEach((id, sale) -> {
			check(sale.touch.fate() == Touch.Fate.COMMITTED && !sales.contains(id), Violation.Kind.COMMIT_LOST, sale);
			check(sale.touch.fate() == Touch.Fate.ROLLED_BACK && sales.contains(id), Violation.Kind.ROLLBACK_COMMITTED,
					sale);
		});
	}

	/**
	 * A transaction that has read and committed has seen what earlier holders committed.
	 */
	private void checkReads() {
		Map<String, TreeMap<Long, Accounts.Sale>> newestByToken = new HashMap<>();
		this.history.sales().forEach((account, sales) -> {
			TreeMap<Long, Accounts.Sale> tokens = new TreeMap<>();
			sales.stream()
				.filter((sale) -> sale.token() != null && !sale.isInner())
				.forEach((sale) -> tokens.put(Objects.requireNonNull(sale.token()), sale));
			Accounts.Sale newest = null;
			for (Map.Entry<Long, Accounts.Sale> entry : tokens.entrySet()) {
				newest = (newest == null || newest.version() < entry.getValue().version()) ? entry.getValue() : newest;
				entry.setValue(newest);
			}
			newestByToken.put(account, tokens);
		});
		this.history.calls().forEach((call) -> call.touches().forEach((touch) -> {
			TreeMap<Long, Accounts.Sale> tokens = newestByToken.getOrDefault(touch.account(), new TreeMap<>());
			Map.Entry<Long, Accounts.Sale> earlier = (touch.token() != null && touch.fate() == Touch.Fate.COMMITTED)
					? tokens.lowerEntry(touch.token()) : null;
			if (earlier != null && !String.valueOf(touch.sale()).endsWith(Accounts.INNER)) {
				check(earlier.getValue().version() > touch.version(), Violation.Kind.COMMIT_AFTER_SUCCESSOR,
						earlier.getValue(), "after", touch, "of", call.id());
			}
		}));
	}

	private void checkCall(Call call) {
		long millis = TimeUnit.NANOSECONDS.toMillis(call.ended() - call.started());
		check(call.ending() == Ending.UNEXPECTED, Violation.Kind.UNEXPECTED_END, call);
		check(call.kind() != Step.Kind.OPTIMISTIC
				&& (call.ending() == Ending.NOT_ACQUIRED && call.runs() > 0 || hasSoldWithoutLock(call)),
				Violation.Kind.RAN_WITHOUT_LOCK, call);
		check(!call.left().isEmpty(), Violation.Kind.LEAK, call);
		boolean tooEarly = this.plan.weather() == Weather.PROCESSES && this.plan.target().level() == Level.FENCE
				&& call.ending() == Ending.LOST && millis < this.plan.leaseTime() - MARGIN / 100;
		check(tooEarly || this.calm && LOSSES.contains(call.ending()) && !mayBeRefused(call), Violation.Kind.FALSE_LOSS,
				call);
		// A process that is paused does not know for how long
		check(call.runs() == 0 && !call.kind().isAfterOthers() && !this.plan.weather().places.contains(Fault.Place.NODE)
				&& millis > longestWait(call), Violation.Kind.OVERDUE, call);
	}

	private boolean hasSoldWithoutLock(Call call) {
		return this.plan.target().level() != Level.NONE && call.touches()
			.stream()
			.anyMatch((touch) -> touch.sale() != null && touch.token() == null && touch.fate() == Touch.Fate.COMMITTED);
	}

	/**
	 * MariaDB refuses an UPDATE of a row that an optimistic call has changed, even if it
	 * has not committed; optimistic calls repeat. An optimistic call locks the row of its
	 * lock last, so it can meet a holder in a deadlock. H2 and InnoDB do not see one with
	 * an inner transaction, and end it by their timeouts. An interrupt cancels the
	 * question for the fencing token. The snapshot of an outer transaction can be older
	 * than what its inner one has committed.
	 */
	private boolean mayBeRefused(Call call) {
		Isolation isolation = this.plan.target().isolation();
		return call.kind().isRefusedByDatabases() || isolation == Isolation.SERIALIZABLE
				|| isolation == Isolation.SNAPSHOT && call.kind() != Step.Kind.OPTIMISTIC
						&& call.ending() == Ending.DATABASE_ERROR
				|| isolation == Isolation.REPEATABLE_READ && call.kind() == Step.Kind.INNER
				|| call.kind() == Step.Kind.INTERRUPT && call.ending() != Ending.LOST
				|| this.plan.hasAny(Step.Kind.OPTIMISTIC::equals) && Stream
					.of("eadlock", "Timeout trying to lock table", "Lock wait timeout exceeded",
							"Record has changed since last read")
					.anyMatch(call.detail()::contains);
	}

	private static long longestWait(Call call) {
		return Holder.WAIT_TIME.toMillis() * call.kind().locks() + 2 * Servers.MAX_ANSWER_TIME
				+ Holder.POOL_TIME.toMillis() + MARGIN;
	}

	private void checkExclusive() {
		Map<String, List<Held>> byKey = new TreeMap<>();
		this.history.calls()
			.forEach((call) -> call.holds()
				.forEach((hold) -> byKey.computeIfAbsent(hold.key(), (key) -> new ArrayList<>())
					.add(new Held(call.id(), call.kind(), call.ending(), hold))));
		byKey.values().forEach((holds) -> {
			holds.sort(Comparator.comparingLong((held) -> held.hold.from()));
			Held last = holds.get(0);
			for (Held held : holds) {
				// A transaction that was the lock may have been rolled back before its
				// body had ended
				check(this.calm && !held.id.equals(last.id) && held.hold.from() < last.hold.to()
						&& last.ending == Ending.RESULT, Violation.Kind.OVERLAP, last, "and", held);
				last = (held.hold.to() > last.hold.to()) ? held : last;
			}
		});
	}

	/** After the faults, a lock is free when the lease of a dead holder is over. */
	private void checkEnd() {
		int freeAfter = this.history.freeAfter();
		int limit = (this.calm ? 0 : this.plan.leaseTime()) + MARGIN + Servers.MAX_ANSWER_TIME;
		check(freeAfter < 0, Violation.Kind.STUCK, "a lock was not free after", Holder.FREE_TIME);
		check(freeAfter > limit, Violation.Kind.LATE, "a lock was free after", freeAfter, "ms, not", limit);
		this.history.leftovers().forEach((leftover) -> check(true, Violation.Kind.LEAK, leftover));
	}

	private record Noted(Call call, Touch touch) {

	}

	private record Held(String id, Step.Kind kind, Ending ending, Call.Hold hold) {

	}

}
