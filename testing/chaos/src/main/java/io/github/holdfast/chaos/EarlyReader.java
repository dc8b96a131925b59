package io.github.holdfast.chaos;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

/**
 * A listener of the application that reads an account as soon as a transaction has begun.
 */
final class EarlyReader implements TransactionExecutionListener {

	private final ThreadLocal<@Nullable CallRecorder> call = new ThreadLocal<>();

	private final ThreadLocal<@Nullable Long> result = new ThreadLocal<>();

	private final Accounts accounts;

	EarlyReader(Accounts accounts) {
		this.accounts = accounts;
	}

	/** Reads the account of a call in the transactions that begin in some code. */
	void during(CallRecorder call, Runnable code) {
		this.call.set(call);
		try {
			code.run();
		}
		finally {
			this.call.remove();
			this.result.remove();
		}
	}

	@Override
	public void afterBegin(TransactionExecution transaction, @Nullable Throwable failure) {
		CallRecorder call = this.call.get();
		if (failure == null && call != null) {
			this.result.remove();
			try {
				this.result.set(call.reading(() -> this.accounts.read(call.step().key())));
			}
			catch (DataAccessException ex) {
				// Spring cannot take an exception here
			}
		}
	}

	long result() {
		Long version = this.result.get();
		if (version == null) {
			throw new Ending.RefusedException("nothing was read");
		}
		return version;
	}

}
