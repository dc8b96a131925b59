package io.github.holdfast.benchmarks;

import org.springframework.transaction.annotation.Transactional;

/** Runs code in the transactions of an annotated method, as applications do. */
public class Transactions {

	@Transactional
	public void run(Runnable body) {
		body.run();
	}

}
