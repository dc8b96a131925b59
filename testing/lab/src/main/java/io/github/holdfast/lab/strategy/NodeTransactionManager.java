package io.github.holdfast.lab.strategy;

import javax.sql.DataSource;

import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.DefaultTransactionStatus;

/**
 * Tells orders when their transactions begin and end, and that nothing is between them
 * and the commit any more. Not by a listener: the one that checks commits is the last of
 * these, and one that is told of the end would keep the lock for what it may do then.
 */
final class NodeTransactionManager extends JdbcTransactionManager {

	private static final long serialVersionUID = 1L;

	NodeTransactionManager(DataSource dataSource) {
		super(dataSource);
	}

	@Override
	protected void doBegin(Object transaction, TransactionDefinition definition) {
		super.doBegin(transaction, definition);
		Order order = Order.current();
		if (order != null) {
			order.begun();
		}
	}

	@Override
	protected void doCommit(DefaultTransactionStatus status) {
		Order order = Order.current();
		if (order != null) {
			order.committing();
		}
		super.doCommit(status);
		if (order != null) {
			order.committed();
		}
	}

}
