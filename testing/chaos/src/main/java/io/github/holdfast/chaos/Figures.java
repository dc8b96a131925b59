package io.github.holdfast.chaos;

import java.util.Arrays;
import java.util.List;

/**
 * What is counted in runs.
 *
 * @param runs how many
 * @param faults the faults that were injected
 * @param commits the commits of a change that a node was told of
 * @param refused the calls that ended because their lock was lost
 * @param unknown the calls that do not know whether they have committed
 * @param freeAfter how many milliseconds it took at most until all locks were free
 * @param violations how many there are of each kind
 */
record Figures(int runs, long faults, long commits, long refused, long unknown, int freeAfter, List<Long> violations) {

	static final Figures NONE = new Figures(0, 0, 0, 0, 0, 0,
			Arrays.stream(Violation.Kind.values()).map((kind) -> 0L).toList());

	static Figures of(History history, List<Violation> violations) {
		List<Call> calls = history.calls();
		return new Figures(1, history.faults().size(),
				calls.stream()
					.flatMap((call) -> call.touches().stream())
					.filter((touch) -> touch.sale() != null && touch.fate() == Touch.Fate.COMMITTED)
					.count(),
				calls.stream()
					.filter((call) -> call.ending() == Ending.LOST || call.ending() == Ending.OVERLAP)
					.count(),
				calls.stream().filter((call) -> call.ending() == Ending.OUTCOME_UNKNOWN).count(), history.freeAfter(),
				Arrays.stream(Violation.Kind.values())
					.map((kind) -> violations.stream().filter((violation) -> violation.kind() == kind).count())
					.toList());
	}

	Figures plus(Figures other) {
		return new Figures(this.runs + other.runs, this.faults + other.faults, this.commits + other.commits,
				this.refused + other.refused, this.unknown + other.unknown, Math.max(this.freeAfter, other.freeAfter),
				Arrays.stream(Violation.Kind.values()).map((kind) -> count(kind) + other.count(kind)).toList());
	}

	long count(Violation.Kind kind) {
		return this.violations.get(kind.ordinal());
	}

	/**
	 * The cells of a row.
	 */
	@Override
	public String toString() {
		long lost = count(Violation.Kind.LOST_UPDATE);
		long order = count(Violation.Kind.TOKEN_OUT_OF_ORDER) + count(Violation.Kind.COMMIT_AFTER_SUCCESSOR);
		long all = this.violations.stream().mapToLong(Long::longValue).sum();
		return "%d | %d | %d | %d | %d | %d | %d | %d | %d ms".formatted(this.runs, this.faults, this.commits, lost,
				order, all - lost - order, this.refused, this.unknown, this.freeAfter);
	}

}
