package io.github.holdfast.test;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

/**
 * Looks at the store just before each commit and just after it: what a thread has held
 * all the time in between was held during the commit.
 */
final class CommitWitness implements TransactionExecutionListener {

	private final Supplier<TestLockBackend> backend;

	/** What was held when the commit began. */
	private final Map<TransactionExecution, List<TestLease>> commits = new ConcurrentHashMap<>();

	CommitWitness(Supplier<TestLockBackend> backend) {
		this.backend = backend;
	}

	@Override
	public void beforeCommit(TransactionExecution transaction) {
		if (transaction.isNewTransaction()) {
			this.commits.put(transaction, this.backend.get().commitBegins());
		}
	}

	@Override
	public void afterCommit(TransactionExecution transaction, @Nullable Throwable commitFailure) {
		List<TestLease> held = this.commits.remove(transaction);
		if (held != null && commitFailure == null) {
			this.backend.get().committed(held);
		}
	}

	@Override
	public void afterRollback(TransactionExecution transaction, @Nullable Throwable rollbackFailure) {
		this.commits.remove(transaction);
	}

}
