package io.github.holdfast;

import java.util.HashSet;
import java.util.Set;

import org.springframework.transaction.TransactionExecution;

/**
 * What others note about the locks of one call while they are held, for the thread that
 * gives them back.
 */
final class LockNotes {

	private volatile boolean guarded;

	private volatile boolean lossReported;

	private volatile Version version = Version.KEPT;

	private volatile Set<TransactionExecution> unknownOutcomes = Set.of();

	void guarded() {
		this.guarded = true;
	}

	/**
	 * Whether a commit under the locks was checked.
	 */
	boolean isGuarded() {
		return this.guarded;
	}

	void lossReported() {
		this.lossReported = true;
	}

	/**
	 * Whether the caller knows of a loss already.
	 */
	boolean isLossReported() {
		return this.lossReported;
	}

	void version(Version version) {
		this.version = version;
	}

	Version version() {
		return this.version;
	}

	synchronized void outcomeUnknown(TransactionExecution transaction, boolean unknown) {
		Set<TransactionExecution> outcomes = new HashSet<>(this.unknownOutcomes);
		if (unknown) {
			outcomes.add(transaction);
		}
		else {
			outcomes.remove(transaction);
		}
		this.unknownOutcomes = outcomes;
	}

	/**
	 * Whether it is not known of some commit whether it was carried out.
	 */
	boolean isOutcomeUnknown() {
		return !this.unknownOutcomes.isEmpty();
	}

	/**
	 * What has become of the version of an optimistic lock.
	 */
	enum Version {

		/** No transaction has replaced it. */
		KEPT,

		/** Another commit came first. */
		OVERTAKEN,

		/** A transaction of the body has replaced it, or may have. */
		REPLACED

	}

}
