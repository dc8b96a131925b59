package io.github.holdfast.migration;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.concurrent.TimeUnit;

import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/**
 * The aspect that is in thousands of projects, and what goes with it.
 */
@Aspect
class CopiedAspect {

	private final RedissonClient redisson;

	private final NewTransaction newTransaction;

	CopiedAspect(RedissonClient redisson, NewTransaction newTransaction) {
		this.redisson = redisson;
		this.newTransaction = newTransaction;
	}

	@Around("@annotation(locked)")
	public Object lock(ProceedingJoinPoint call, Locked locked) throws Throwable {
		RLock lock = this.redisson.getLock(key(call, locked));
		if (!lock.tryLock(locked.waitTime(), locked.leaseTime(), TimeUnit.SECONDS)) {
			return false;
		}
		try {
			return this.newTransaction.proceed(call); // REQUIRES_NEW
		}
		finally {
			lock.unlock();
		}
	}

	private static String key(ProceedingJoinPoint call, Locked locked) {
		return locked.key() + call.getArgs()[0];
	}

	/**
	 * Runs the method in a transaction of its own.
	 */
	static class NewTransaction {

		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public Object proceed(ProceedingJoinPoint call) throws Throwable {
			return call.proceed();
		}

	}

	/**
	 * Its annotation.
	 */
	@Retention(RetentionPolicy.RUNTIME)
	@interface Locked {

		String key();

		long waitTime() default 5;

		long leaseTime() default 3;

	}

}
