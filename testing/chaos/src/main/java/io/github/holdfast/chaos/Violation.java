package io.github.holdfast.chaos;

record Violation(Kind kind, String detail) {

	@Override
	public String toString() {
		return Names.print(this.kind) + ": " + this.detail;
	}

	/** What the README says of each. */
	enum Kind {

		LOST_UPDATE, TOKEN_OUT_OF_ORDER, COMMIT_AFTER_SUCCESSOR, COMMIT_LOST, ROLLBACK_COMMITTED, HALF_COMMITTED,
		UNEXPECTED_END, RAN_WITHOUT_LOCK, LEAK, OVERLAP, FALSE_LOSS, STUCK, LATE, OVERDUE

	}

}
