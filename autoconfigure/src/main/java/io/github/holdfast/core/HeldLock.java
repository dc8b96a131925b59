package io.github.holdfast.core;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.annotation.Propagation;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockRequest;

/**
 * The locks of a call as the code sees them that looks after its transactions, and what
 * that code tells the call. Calls of the second kind come from the thread of the call.
 */
public interface HeldLock extends LockContext {

	/**
	 * Whether this lock has not been given back or handed over. It may be lost all the
	 * same.
	 * @return {@code false} once its end has begun, on whatever thread
	 */
	boolean isHeld();

	/**
	 * The backend that has granted all leases of this lock.
	 * @return the backend
	 */
	LockBackend backend();

	/**
	 * The locks that have acquired the keys of this one: itself, unless it needed no new
	 * key, after those outer ones that held some of its keys already.
	 * @return the locks, of which some may not be held any more
	 */
	List<? extends HeldLock> holders();

	/**
	 * How the keys are shared that this lock acquired.
	 * @return the mode
	 */
	LockRequest.Mode mode();

	/**
	 * The time by which a renewal extends the leases.
	 * @return the lease time
	 */
	Duration leaseTime();

	/**
	 * How the transaction of the body relates to a running one.
	 * @return the propagation, or {@code null} if the body declares none
	 */
	@Nullable Propagation propagation();

	/**
	 * What is noted of the transactions under this lock.
	 * @return the notes
	 */
	CommitNotes commits();

	/**
	 * Whether nothing is left to do under this lock once a transaction has been
	 * committed: it is known to be all that the body does, all leases are this lock's
	 * own, and none is to be kept for longer.
	 * @param transaction the transaction
	 * @return {@code false} also if that is not known
	 */
	boolean mayEndWith(TransactionExecution transaction);

	/**
	 * Notes that the commit of a transaction is going to release all leases of this lock,
	 * so that they are not renewed any more. If it is rolled back, they are released as
	 * usual.
	 * @param transaction the transaction
	 */
	void endsWith(TransactionExecution transaction);

	/**
	 * Lets the body's transaction, in which nothing has been done yet, claim the leases
	 * of this lock, if it is one that does so and has not been asked before.
	 * @throws ClaimRefusedException if it cannot
	 */
	void claim();

	/**
	 * Postpones the release: when the body has ended, {@code registrar} gets the action
	 * that releases the lock.
	 * @param registrar takes the action and runs it later, on the same thread
	 */
	void releaseLater(Consumer<Runnable> registrar);

	/**
	 * Notes that a check has found a key not to be held any more.
	 * @param key the key as the caller gave it
	 */
	void lost(String key);

	/**
	 * Notes that a loss has been reported to the caller by an exception.
	 */
	void lossReported();

}
