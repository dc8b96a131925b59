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

import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/**
 * The aspect that everybody copies: a lock of Redisson with a fixed lease, and the body
 * in a transaction of its own. A caller that has a transaction already needs a second
 * connection, while it keeps its first one.
 */
@NodeComponent
class CopiedAspect {

	private final LockedStock stock;

	CopiedAspect(LockedStock stock) {
		this.stock = stock;
	}

	/** The caller of the locked method has a transaction, as callers often do. */
	@Transactional
	public boolean sell(Order order) {
		return this.stock.deduct(order);
	}

	@Target(ElementType.METHOD)
	@Retention(RetentionPolicy.RUNTIME)
	@interface Locked {

		long waitTime() default 5_000;

		long leaseTime() default 4_000;

	}

	@NodeComponent
	static class LockedStock {

		private final StockService stock;

		LockedStock(StockService stock) {
			this.stock = stock;
		}

		@Locked
		public boolean deduct(Order order) {
			return this.stock.deduct(order); // in the same transaction
		}

	}

	@NodeComponent
	static class NewTransaction {

		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public Object proceed(ProceedingJoinPoint call) throws Throwable {
			return call.proceed();
		}

	}

	@Aspect
	@NodeComponent
	static class LockAspect {

		private final RedissonClient redisson;

		private final NewTransaction newTransaction;

		LockAspect(RedissonClient redisson, NewTransaction newTransaction) {
			this.redisson = redisson;
			this.newTransaction = newTransaction;
		}

		@Around("@annotation(locked) && args(order)")
		Object lock(ProceedingJoinPoint call, Locked locked, Order order) throws Throwable {
			RLock lock = this.redisson.getLock(order.key());
			if (!lock.tryLock(locked.waitTime(), locked.leaseTime(), TimeUnit.MILLISECONDS)) {
				throw new BusyException("The lock was busy");
			}
			order.acquired();
			try {
				return this.newTransaction.proceed(call);
			}
			finally {
				order.released();
				lock.unlock();
			}
		}

	}

}
