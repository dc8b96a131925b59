package io.github.holdfast.core;

import java.util.HashSet;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The commits under the locks of one call, as far as they are known. One of the
 * transactions may be <b>the body's</b>: the only one of its name that begins under the
 * locks. Where there are more of them, as with overloaded methods, it is unknown which is
 * the last.
 *
 * <p>
 * Written by the thread of the call, and read by the one that gives its locks back.
 */
final class Commits implements CommitNotes {

	/** The transaction that the body consists of, unless it joins one. */
	private final @Nullable BodyTransaction bodyTransaction;

	private final boolean claims;

	private @Nullable TransactionExecution body;

	private boolean bodyBegun;

	private boolean bodyGuarded;

	private boolean bodyCommitted;

	/** Whether no other transaction and no callback has been seen. */
	private boolean bodyAlone = true;

	private volatile boolean guarded;

	private volatile Version version = Version.KEPT;

	private volatile Set<TransactionExecution> unknownOutcomes = Set.of();

	private Commits(@Nullable BodyTransaction bodyTransaction, boolean mayClaim) {
		this.bodyTransaction = bodyTransaction;
		this.claims = mayClaim && bodyTransaction != null && bodyTransaction.claims();
	}

	/**
	 * The commits of a body that is about to be called.
	 * @param mayClaim whether the body's transaction may claim the locks
	 */
	static Commits of(LockSpec.Body body, boolean mayClaim) {
		boolean joins = body.propagation() != Propagation.REQUIRES_NEW
				&& TransactionSynchronizationManager.isActualTransactionActive();
		return new Commits(joins ? null : body.transaction(), mayClaim);
	}

	/**
	 * Whether the body's transaction is going to claim the locks.
	 */
	boolean claims() {
		return this.claims;
	}

	@Override
	public void begun(TransactionExecution transaction) {
		if (this.bodyTransaction != null && this.bodyTransaction.name().equals(transaction.getTransactionName())) {
			this.bodyAlone &= !this.bodyBegun;
			this.body = this.bodyBegun ? null : transaction;
			this.bodyBegun = true;
		}
		else {
			this.bodyAlone = false;
		}
	}

	@Override
	public boolean isBody(TransactionExecution transaction) {
		return transaction == this.body;
	}

	/**
	 * Whether a transaction is the body's, and is known to be all that the body does.
	 */
	boolean isBodyAlone(TransactionExecution transaction) {
		return isBody(transaction) && this.bodyAlone && this.bodyTransaction != null && this.bodyTransaction.isAlone();
	}

	@Override
	public void bodyNotAlone() {
		if (this.bodyTransaction != null) {
			this.bodyTransaction.notAlone();
		}
	}

	/**
	 * Note that the body's transaction cannot claim.
	 */
	void bodyCannotClaim() {
		if (this.bodyTransaction != null) {
			this.bodyTransaction.neverClaims();
		}
	}

	@Override
	public void guarded(TransactionExecution transaction) {
		this.guarded = true;
		this.bodyGuarded |= transaction == this.body;
	}

	/**
	 * Whether a commit under the locks was checked.
	 */
	boolean isGuarded() {
		return this.guarded;
	}

	@Override
	public void committed(TransactionExecution transaction, boolean hadCallbacks) {
		if (transaction == this.body) {
			this.bodyCommitted = true;
			this.bodyGuarded &= !hadCallbacks;
			this.bodyAlone &= !hadCallbacks;
		}
	}

	/**
	 * Whether all that the body has done was committed after a check.
	 */
	boolean isBodyGuarded() {
		return this.bodyGuarded && this.bodyCommitted;
	}

	/**
	 * Note that the body has returned.
	 */
	void bodyOver() {
		if (!this.bodyAlone) {
			bodyNotAlone();
		}
		else if (this.bodyCommitted && this.bodyTransaction != null) {
			this.bodyTransaction.wasAlone();
		}
	}

	@Override
	public void conflict() {
		this.version = Version.CONFLICT;
	}

	@Override
	public void replaced() {
		this.version = Version.REPLACED;
	}

	Version version() {
		return this.version;
	}

	@Override
	public synchronized void outcomeUnknown(TransactionExecution transaction, boolean unknown) {
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
	 * What has become of the version of an optimistic lock, by the last transaction that
	 * wanted to commit.
	 */
	enum Version {

		/** No transaction has replaced it. */
		KEPT,

		/** Another commit came first. */
		CONFLICT,

		/** A transaction of the body has replaced it, or may have. */
		REPLACED

	}

}
