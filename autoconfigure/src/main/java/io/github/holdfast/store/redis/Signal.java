package io.github.holdfast.store.redis;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Ends the pause of one waiter early. A signal that is raised before the pause ends it at
 * once.
 */
final class Signal implements AutoCloseable {

	private final Semaphore raised = new Semaphore(0);

	private final Consumer<Signal> whenClosed;

	Signal(Consumer<Signal> whenClosed) {
		this.whenClosed = whenClosed;
	}

	void raise() {
		this.raised.release();
	}

	void await(long nanos) throws InterruptedException {
		if (this.raised.tryAcquire(nanos, TimeUnit.NANOSECONDS)) {
			this.raised.drainPermits();
		}
	}

	@Override
	public void close() {
		this.whenClosed.accept(this);
	}

}
