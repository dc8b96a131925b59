package io.github.holdfast.lab.strategy;

import org.springframework.dao.OptimisticLockingFailureException;

/**
 * The same, again and again, until nobody else was quicker.
 */
@NodeComponent
class OptimisticRetry implements Strategy {

	private final Optimistic attempt;

	OptimisticRetry(Optimistic attempt) {
		this.attempt = attempt;
	}

	@Override
	public boolean sell(Order order) {
		while (true) {
			try {
				return this.attempt.sell(order); // each time in a new transaction
			}
			catch (OptimisticLockingFailureException ex) {
				order.waitOrGiveUp();
			}
		}
	}

}
