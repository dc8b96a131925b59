package io.github.holdfast.jobs;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Holds back one of those that come by, on whatever node, until the test lets it go on.
 */
final class Pause {

	private final AtomicBoolean next = new AtomicBoolean();

	private final CountDownLatch begun = new CountDownLatch(1);

	private final CountDownLatch ended = new CountDownLatch(1);

	/**
	 * Lets the next one pause.
	 */
	void begin() {
		this.next.set(true);
	}

	void hold() {
		if (this.next.compareAndSet(true, false)) {
			this.begun.countDown();
			await(this.ended);
		}
	}

	void awaitBegin() {
		await(this.begun);
	}

	void end() {
		this.ended.countDown();
	}

	private static void await(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

}
