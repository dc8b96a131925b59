package io.github.holdfast.interceptor;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;

import io.github.holdfast.core.LockSettings.BodyTransaction;
import io.github.holdfast.interceptor.LockOperationSource.LockOperation;
import org.aopalliance.aop.Advice;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.DefaultAdvisorChainFactory;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.interceptor.TransactionInterceptor;

/**
 * Reads the locked methods of each bean, finds those whose transaction begins right
 * behind the lock, with no other advice in between, and puts the
 * {@link LockInterceptor.InTransaction} right behind that transaction. Has no order, so
 * that it gets the proxies of all post-processors that have one.
 */
public final class ClaimPostProcessor implements BeanPostProcessor {

	private static final Logger logger = LoggerFactory.getLogger(ClaimPostProcessor.class);

	private final LockOperationSource source;

	/**
	 * Create a post-processor.
	 * @param source knows the annotated methods
	 */
	public ClaimPostProcessor(LockOperationSource source) {
		this.source = source;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		DistributedLockAdvisor lock = DistributedLockAdvisor.of(bean);
		if (lock != null) {
			Collection<LockOperation> operations = this.source.getAll(AopProxyUtils.ultimateTargetClass(bean));
			Advised advised = (Advised) bean;
			// A subclass of Spring's advice may work before its transaction begins
			Arrays.stream(advised.isFrozen() ? new Advisor[0] : advised.getAdvisors())
				.filter((advisor) -> advisor.getAdvice().getClass() == TransactionInterceptor.class)
				.findFirst()
				.ifPresent((transaction) -> addClaims(operations, advised, lock, transaction, beanName));
		}
		return bean;
	}

	private void addClaims(Collection<LockOperation> operations, Advised advised, DistributedLockAdvisor lock,
			Advisor transaction, String beanName) {
		Class<?> targetClass = AopProxyUtils.ultimateTargetClass(advised);
		TransactionInterceptor advice = (TransactionInterceptor) transaction.getAdvice();
		Map<Method, LockOperation> innermost = new HashMap<>();
		for (LockOperation operation : operations) {
			Method method = operation.method();
			BodyTransaction declared = this.source.transaction(advice, method, targetClass, true);
			if (declared != null && isRightBehind(advice, lock.getAdvice(), method, targetClass, advised)) {
				innermost.put(method, operation.withTransaction(declared));
				logger.debug("The transaction of {} of bean '{}' begins right behind its lock", operation.location(),
						beanName);
			}
		}
		if (!innermost.isEmpty()) {
			advised.addAdvisor(advised.indexOf(transaction) + 1,
					new DefaultPointcutAdvisor(lock.getPointcut(), new LockInterceptor.InTransaction()));
			advised.replaceAdvisor(lock,
					new DistributedLockAdvisor(new LockInterceptor(this.source, innermost), lock.getOrder()));
		}
	}

	/**
	 * Whether a transaction begins right behind the lock, whatever interface the method
	 * is called by.
	 */
	private static boolean isRightBehind(Advice transaction, Advice lock, Method method, Class<?> targetClass,
			Advised advised) {
		return Stream.concat(Stream.of(method), LockAnnotations.interfaceMethods(method, targetClass))
			.map((called) -> DefaultAdvisorChainFactory.INSTANCE.getInterceptorsAndDynamicInterceptionAdvice(advised,
					called, targetClass))
			.allMatch((chain) -> chain.contains(lock) && chain.indexOf(transaction) == chain.indexOf(lock) + 1);
	}

}
