package io.github.holdfast.store;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

/**
 * Those who wait for the permit of one key. Handed on from permit to permit, and reached
 * only through the map of permits while that has the key locked.
 *
 * @param <T> what a permit may bring along
 */
final class PermitQueue<T> {

	private final Deque<PermitWaiter<T>> waiters = new ArrayDeque<>(1);

	/** Whether somebody may be there who wants the strict order. */
	private boolean ordered;

	void join(PermitWaiter<T> waiter) {
		this.waiters.add(waiter);
		this.ordered |= waiter.fair;
	}

	/**
	 * Let one be the next, whom the strict order does not concern.
	 */
	void addFirst(PermitWaiter<T> waiter) {
		this.waiters.addFirst(waiter);
	}

	void leave(PermitWaiter<T> waiter) {
		this.waiters.remove(waiter);
	}

	@Nullable PermitWaiter<T> poll() {
		PermitWaiter<T> next = this.waiters.poll();
		this.ordered &= !this.waiters.isEmpty();
		return next;
	}

	void wakeAll() {
		this.waiters.forEach((waiter) -> LockSupport.unpark(waiter.thread));
	}

	int size() {
		return this.waiters.size();
	}

	boolean isEmpty() {
		return this.waiters.isEmpty();
	}

	boolean isOrdered() {
		return this.ordered;
	}

}
