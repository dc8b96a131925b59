package io.github.holdfast.chaos;

import java.util.Arrays;
import java.util.List;

/**
 * What is counted in runs.
 *
 * @param runs how many
 * @param faults the faults that were injected
 * @param calls the calls that have ended
 * @param commits the commits that a node was told of
 * @param rejected the calls that were refused their commit, as their lock was lost
 * @param overlaps the calls that were told of a loss after their commit
 * @param notAcquired the calls that were not given their lock
 * @param unknown the calls that do not know whether they have committed
 * @param freeAfter how many milliseconds it took at most until all locks were free
 * @param violations how many there are of each kind
 */
record Figures(int runs, long faults, long calls, long commits, long rejected, long overlaps, long notAcquired,
		long unknown, int freeAfter, List<Long> violations) {

	static final Figures NONE = new Figures(0, 0, 0, 0, 0, 0, 0, 0, 0,
			Arrays.stream(Violation.Kind.values()).map((kind) -> 0L).toList());

	static Figures of(History history, List<Violation> violations) {
		List<Call> calls = history.calls();
		return new Figures(1, history.faults().size(), calls.size(),
				calls.stream()
					.flatMap((call) -> call.touches().stream())
					.filter((touch) -> touch.sale() != null && touch.fate() == Touch.Fate.COMMITTED)
					.count(),
				count(calls, Ending.LOST), count(calls, Ending.OVERLAP), count(calls, Ending.NOT_ACQUIRED),
				count(calls, Ending.OUTCOME_UNKNOWN), history.freeAfter(),
				Arrays.stream(Violation.Kind.values())
					.map((kind) -> violations.stream().filter((violation) -> violation.kind() == kind).count())
					.toList());
	}

	private static long count(List<Call> calls, Ending ending) {
		return calls.stream().filter((call) -> call.ending() == ending).count();
	}

	Figures plus(Figures other) {
		return new Figures(this.runs + other.runs, this.faults + other.faults, this.calls + other.calls,
				this.commits + other.commits, this.rejected + other.rejected, this.overlaps + other.overlaps,
				this.notAcquired + other.notAcquired, this.unknown + other.unknown,
				Math.max(this.freeAfter, other.freeAfter),
				Arrays.stream(Violation.Kind.values()).map((kind) -> count(kind) + other.count(kind)).toList());
	}

	long count(Violation.Kind kind) {
		return this.violations.get(kind.ordinal());
	}

	long allViolations() {
		return this.violations.stream().mapToLong(Long::longValue).sum();
	}

}
