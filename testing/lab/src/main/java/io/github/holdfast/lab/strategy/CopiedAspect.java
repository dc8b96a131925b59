package io.github.holdfast.lab.strategy;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.concurrent.TimeUnit;

import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The aspect that everybody copies: a lock of Redisson with a fixed lease, and the body
 * in a transaction of its own. A caller that has a transaction already needs a second
 * connection, while it keeps its first one.
 */
@NodeComponent
class CopiedAspect implements Strategy {

	private final LockedStock stock;

	CopiedAspect(LockedStock stock) {
		this.stock = stock;
	}

	/**
	 * The caller of the locked method has a transaction, as callers often do.
	 */
	@Override
	@Transactional
	public boolean sell(Order order) {
		return this.stock.deduct(order);
	}

	/**
	 * A method that runs under a lock.
	 */
	@Target(ElementType.METHOD)
	@Retention(RetentionPolicy.RUNTIME)
	@interface Locked {

		/** How long to wait for the lock, in milliseconds. */
		long waitTime() default 5_000;

		/** How long the lock is held at most, in milliseconds. */
		long leaseTime() default 4_000;

	}

	/**
	 * The stock, with a lock around it.
	 */
	@NodeComponent
	static class LockedStock {

		private final Shelf shelf;

		LockedStock(Shelf shelf) {
			this.shelf = shelf;
		}

		@Locked
		public boolean deduct(Order order) {
			Stock stock = this.shelf.read(order, "SELECT * FROM lab_stock WHERE sku = ?");
			if (stock.available() < order.quantity()) {
				return false;
			}
			return this.shelf.write(order, "UPDATE lab_stock SET available = ? WHERE sku = ?",
					stock.available() - order.quantity(), order.sku());
		}

	}

	/**
	 * The aspect.
	 */
	@Aspect
	@NodeComponent
	static class LockAspect {

		private final RedissonClient redisson;

		private final TransactionTemplate newTransaction;

		LockAspect(RedissonClient redisson, PlatformTransactionManager transactionManager) {
			this.redisson = redisson;
			this.newTransaction = new TransactionTemplate(transactionManager);
			this.newTransaction.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		}

		@Around("@annotation(locked) && args(order)")
		Object lock(ProceedingJoinPoint call, Locked locked, Order order) throws InterruptedException {
			RLock lock = this.redisson.getLock("stock:" + order.sku());
			if (!lock.tryLock(locked.waitTime(), locked.leaseTime(), TimeUnit.MILLISECONDS)) {
				throw new BusyException("The lock was busy");
			}
			order.acquired();
			try {
				return this.newTransaction.execute((status) -> proceed(call));
			}
			finally {
				order.released();
				lock.unlock();
			}
		}

		private static Object proceed(ProceedingJoinPoint call) {
			try {
				return call.proceed();
			}
			catch (RuntimeException | Error ex) {
				throw ex;
			}
			catch (Throwable ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

}
