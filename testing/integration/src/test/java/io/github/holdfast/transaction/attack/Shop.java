package io.github.holdfast.transaction.attack;

import java.util.List;

import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockMode;

/** The ways to sell under the lock of the stock. */
class Shop {

	@DistributedLock("'stock'")
	@Transactional
	void locked(Runnable body) {
		body.run();
	}

	@DistributedLock("'stock'")
	void facade(Runnable body) {
		body.run();
	}

	@DistributedLock("'stock'")
	@Transactional
	void advised(Runnable body) {
		body.run();
	}

	@DistributedLock("'stock'")
	@Transactional(isolation = Isolation.REPEATABLE_READ)
	void repeatableRead(Runnable body) {
		body.run();
	}

	@DistributedLock("'stock'")
	@Transactional(propagation = Propagation.REQUIRES_NEW)
	void inNewTransaction(Runnable body) {
		body.run();
	}

	@DistributedLock("'stock'")
	@Transactional(noRollbackFor = RuntimeException.class)
	void neverRolledBack(Runnable body) {
		body.run();
	}

	@DistributedLock("'stock'")
	@Transactional(readOnly = true, isolation = Isolation.READ_COMMITTED)
	void reading(Runnable body) {
		body.run();
	}

	/** A lease that is claimed by the first statement of its transaction. */
	@DistributedLock(value = "'stock'", leaseTime = "1s", maxHoldTime = "1h")
	@Transactional
	void held(Runnable body) {
		body.run();
	}

	@DistributedLock("#keys")
	@Transactional
	void lockedAll(List<String> keys, Runnable body) {
		body.run();
	}

	/** Not for all stores. */
	static class Optimistic {

		@DistributedLock(value = "'stock'", mode = LockMode.OPTIMISTIC)
		@Transactional
		void sell(Runnable body) {
			body.run();
		}

	}

	@SuppressWarnings("serial")
	static final class BusinessException extends RuntimeException {

	}

}
