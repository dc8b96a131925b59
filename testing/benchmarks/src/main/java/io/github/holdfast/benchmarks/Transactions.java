package io.github.holdfast.benchmarks;

import org.springframework.transaction.annotation.Transactional;

/**
 * Runs code in the transactions of an annotated method, as applications do whatever lock
 * they have.
 */
public class Transactions {

	/**
	 * Run code in a transaction.
	 */
	@Transactional
	public void run(Runnable body) {
		body.run();
	}

}
