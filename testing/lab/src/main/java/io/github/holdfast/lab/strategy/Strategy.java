package io.github.holdfast.lab.strategy;

/**
 * One way of guarding stock.
 */
public interface Strategy {

	/**
	 * Takes the pieces of an order out of the stock.
	 * @param order the order
	 * @throws BusyException if others were quicker for too long
	 * @throws Exception if it fails; nothing was sold then, unless the strategy is wrong
	 */
	boolean sell(Order order) throws Exception;

}
