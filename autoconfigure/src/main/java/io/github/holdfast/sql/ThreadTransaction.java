package io.github.holdfast.sql;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * What Spring says of the transaction of a thread, by which routers choose a database.
 *
 * @since 0.3.0
 */
public final class ThreadTransaction {

	private ThreadTransaction() {
	}

	/**
	 * Remember what is said of it.
	 * @return says it again, on the same thread
	 */
	public static Runnable remember() {
		boolean active = TransactionSynchronizationManager.isActualTransactionActive();
		String name = TransactionSynchronizationManager.getCurrentTransactionName();
		boolean readOnly = TransactionSynchronizationManager.isCurrentTransactionReadOnly();
		Integer isolation = TransactionSynchronizationManager.getCurrentTransactionIsolationLevel();
		return () -> say(active, name, readOnly, isolation);
	}

	/**
	 * Say nothing of it, while what is bound to the thread stays there.
	 * @return says again what was said before
	 */
	static Runnable hide() {
		Runnable before = remember();
		say(false, null, false, null);
		return before;
	}

	private static void say(boolean active, @Nullable String name, boolean readOnly, @Nullable Integer isolation) {
		TransactionSynchronizationManager.setActualTransactionActive(active);
		TransactionSynchronizationManager.setCurrentTransactionName(name);
		TransactionSynchronizationManager.setCurrentTransactionReadOnly(readOnly);
		TransactionSynchronizationManager.setCurrentTransactionIsolationLevel(isolation);
	}

}
