package io.github.holdfast.cost;

import java.util.List;

/**
 * What a call costs.
 *
 * @param trips what was sent to the business database, for each round trip
 * @param commits the durable commits there
 * @param storeTrips what was sent to the store, for each round trip
 * @param beforeCommit how many of these came before the first COMMIT
 * @param releaseAwaited whether the call has waited for the others
 */
record Cost(List<String> trips, long commits, List<String> storeTrips, int beforeCommit, boolean releaseAwaited) {

	boolean isLike(Cost other) {
		return this.trips.size() == other.trips.size() && this.commits == other.commits
				&& this.storeTrips.size() == other.storeTrips.size() && this.beforeCommit == other.beforeCommit;
	}

	Cost withReleaseAwaited(boolean releaseAwaited) {
		return new Cost(this.trips, this.commits, this.storeTrips, this.beforeCommit, releaseAwaited);
	}

	/**
	 * The round trips to the store that the call has waited for.
	 */
	int awaited() {
		return this.releaseAwaited ? this.storeTrips.size() : this.beforeCommit;
	}

	int notAwaited() {
		return this.storeTrips.size() - awaited();
	}

	@Override
	public String toString() {
		return this.commits + " durable commits and " + this.trips.size() + " round trips to the database:\n  "
				+ String.join("\n  ", this.trips) + "\n" + this.storeTrips.size()
				+ " round trips to the store, of which " + awaited() + " are waited for:\n  "
				+ String.join("\n  ", this.storeTrips) + "\n";
	}

}
