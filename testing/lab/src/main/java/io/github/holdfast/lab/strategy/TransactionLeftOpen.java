package io.github.holdfast.lab.strategy;

import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;

/**
 * Begins and commits by hand. What throws in between leaves the transaction open, with
 * its connection and the row that it has locked.
 */
@NodeComponent
class TransactionLeftOpen implements Strategy {

	private final PlatformTransactionManager transactions;

	private final ForUpdate stock;

	TransactionLeftOpen(PlatformTransactionManager transactions, ForUpdate stock) {
		this.transactions = transactions;
		this.stock = stock;
	}

	@Override
	public boolean sell(Order order) {
		TransactionStatus status = this.transactions.getTransaction(TransactionDefinition.withDefaults());
		try {
			return sell(order, status);
		}
		finally {
			if (!status.isCompleted()) {
				// It would stay open for ever, but the next run needs the thread
				order.waitInVain();
				this.transactions.rollback(status);
			}
		}
	}

	private boolean sell(Order order, TransactionStatus status) {
		if (!this.stock.sell(order)) { // in the same transaction
			throw new IllegalStateException("Not enough stock"); // nobody rolls back
		}
		this.transactions.commit(status);
		return true;
	}

}
