package io.github.holdfast.store.jdbc;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

import org.springframework.util.function.SingletonSupplier;

/**
 * The half of a pool whose connections may be kept by those who wait in the database, and
 * by those who share locks. The other half is left to those whom they wait for, and to
 * what is done under the locks.
 */
final class PoolShare {

	private final Supplier<Integer> size;

	private final Supplier<Semaphore> places;

	/**
	 * Create a share of a pool.
	 * @param connections supplies how many connections the pool has, at the first use
	 */
	PoolShare(IntSupplier connections) {
		this.size = SingletonSupplier.of(() -> connections.getAsInt() / 2);
		this.places = SingletonSupplier.of(() -> new Semaphore(size()));
	}

	/**
	 * How many connections may be kept at a time.
	 */
	int size() {
		return this.size.get();
	}

	/**
	 * Take the place of one connection, without waiting for it.
	 * @return {@code false} if there is none
	 */
	boolean take() {
		return this.places.get().tryAcquire();
	}

	/**
	 * Take the place of one connection, which others may have for a moment only.
	 * @return {@code false} if there was none in time
	 */
	boolean take(Duration wait) throws InterruptedException {
		return this.places.get().tryAcquire(wait.toNanos(), TimeUnit.NANOSECONDS);
	}

	void giveBack() {
		this.places.get().release();
	}

}
