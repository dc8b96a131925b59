package io.github.holdfast.lab.node;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

import io.github.holdfast.lab.strategy.NodeComponent;
import io.github.holdfast.lab.strategy.Order;

/**
 * Notes when the transactions of an order begin and end, so that no strategy has to.
 */
@NodeComponent
class TransactionTimes implements TransactionExecutionListener {

	@Override
	public void afterBegin(TransactionExecution transaction, @Nullable Throwable failure) {
		Order order = Order.current();
		if (order != null && failure == null) {
			order.begun();
		}
	}

	@Override
	public void afterCommit(TransactionExecution transaction, @Nullable Throwable failure) {
		Order order = Order.current();
		if (order != null && failure == null) {
			order.committed();
		}
	}

}
