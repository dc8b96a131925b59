package io.github.holdfast.lab.strategy;

import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Strategies that need no more than the row of the stock, or a monitor.
 */
@NodeComponent
class Statements {

	private final Shelf shelf;

	private final StockService stock;

	private final PlatformTransactionManager transactions;

	private final TransactionTemplate transaction;

	Statements(Shelf shelf, StockService stock, PlatformTransactionManager transactions,
			TransactionTemplate transaction) {
		this.shelf = shelf;
		this.stock = stock;
		this.transactions = transactions;
		this.transaction = transaction;
	}

	/**
	 * Checks in memory what it has read, and overwrites the row. A transaction does not
	 * keep others from reading the same.
	 */
	public boolean memoryOverwrite(Order order) {
		return this.stock.deduct(order);
	}

	/**
	 * The transaction is committed by the proxy around the method, when the monitor is
	 * free already.
	 */
	@Transactional
	public synchronized boolean synchronizedTransactional(Order order) {
		order.acquired();
		boolean sold = this.stock.deduct(order); // in the same transaction
		order.released();
		return sold;
	}

	/** The commit is inside of the monitor. A second node has a monitor of its own. */
	public synchronized boolean synchronizedCaller(Order order) {
		return order.sellLocked(() -> true, this.stock, () -> {
		});
	}

	/**
	 * Locks the row when it reads it, until the transaction ends. The primary key finds
	 * it; without a unique key, all rows that are looked through would be locked, and the
	 * gaps between them.
	 */
	@Transactional
	public boolean forUpdate(Order order) {
		Shelf.Stock stock = this.shelf.read(order, "SELECT * FROM lab_stock WHERE sku = ? FOR UPDATE");
		if (stock.available() < order.quantity()) {
			return false;
		}
		return this.shelf.write(order, "UPDATE lab_stock SET available = ? WHERE sku = ?",
				stock.available() - order.quantity(), order.sku());
	}

	/** Checks and subtracts in one statement. The database lets nobody in between. */
	@Transactional
	public boolean conditionalUpdate(Order order) {
		order.work();
		return this.shelf.write(order,
				"UPDATE lab_stock SET available = available - ? WHERE sku = ? AND available >= ?", order.quantity(),
				order.sku(), order.quantity());
	}

	/**
	 * Locks nothing, but only writes if the version is still the one that it has read,
	 * and tries again until it is. A version only grows. The stock itself may have been
	 * 40, 39 and 40 again meanwhile (ABA), if somebody has sent a piece back.
	 */
	public boolean optimisticRetry(Order order) {
		while (true) {
			try {
				return Boolean.TRUE.equals(this.transaction.execute((status) -> attempt(order)));
			}
			catch (OptimisticLockingFailureException ex) {
				order.waitOrGiveUp();
			}
		}
	}

	private boolean attempt(Order order) {
		Shelf.Stock stock = this.shelf.read(order, "SELECT * FROM lab_stock WHERE sku = ?");
		if (stock.available() < order.quantity()) {
			return false;
		}
		if (!this.shelf.write(order,
				"UPDATE lab_stock SET available = ?, version = version + 1 WHERE sku = ? AND version = ?",
				stock.available() - order.quantity(), order.sku(), stock.version())) {
			throw new OptimisticLockingFailureException("Somebody else was quicker");
		}
		return true;
	}

	/**
	 * Begins and commits by hand. What throws in between leaves the transaction open,
	 * with its connection and the row that it has locked.
	 */
	public boolean transactionLeftOpen(Order order) {
		TransactionStatus status = this.transactions.getTransaction(TransactionDefinition.withDefaults());
		order.afterwards(() -> end(order, status)); // only for the next run of the lab
		if (!forUpdate(order)) { // in the same transaction
			throw new IllegalStateException("Not enough stock"); // nobody rolls back
		}
		this.transactions.commit(status);
		return true;
	}

	private void end(Order order, TransactionStatus status) {
		if (!status.isCompleted()) {
			order.waitInVain();
			this.transactions.rollback(status);
		}
	}

}
