package io.github.holdfast.lab.node;

import javax.sql.DataSource;

import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;

import io.github.holdfast.lab.strategy.Order;

/**
 * Tells orders that nothing is between them and the commit any more. Not by a listener:
 * the one that checks commits is the last of these.
 */
final class NodeTransactionManager extends JdbcTransactionManager {

	private static final long serialVersionUID = 1L;

	NodeTransactionManager(DataSource dataSource) {
		super(dataSource);
	}

	@Override
	protected void doCommit(DefaultTransactionStatus status) {
		Order order = Order.current();
		if (order != null) {
			order.committing();
		}
		super.doCommit(status);
	}

}
