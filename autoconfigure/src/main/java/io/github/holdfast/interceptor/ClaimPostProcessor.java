package io.github.holdfast.interceptor;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.github.holdfast.core.BodyTransaction;
import org.aopalliance.aop.Advice;
import org.jspecify.annotations.Nullable;
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
 * Finds the locked methods of each bean whose transaction begins right behind the lock,
 * with no other advice in between, and puts the {@link ClaimInterceptor} right behind
 * that transaction. Has no order, so that it sees the proxies of all post-processors that
 * have one.
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
		if (bean instanceof Advised advised && !advised.isFrozen()) {
			List<Advisor> advisors = List.of(advised.getAdvisors());
			advisors.stream()
				.filter(DistributedLockAdvisor.class::isInstance)
				.findFirst()
				.ifPresent((lock) -> process(advised, (DistributedLockAdvisor) lock, beanName));
		}
		return bean;
	}

	private void process(Advised advised, DistributedLockAdvisor lock, String beanName) {
		Advisor next = transactionBehind(lock, advised);
		if (next == null) {
			return;
		}
		Map<Method, LockOperation> operations = new HashMap<>();
		for (LockOperation operation : this.source.getAll(AopProxyUtils.ultimateTargetClass(advised))) {
			BodyTransaction transaction = transaction(operation.method(), advised, lock.getAdvice(), next.getAdvice());
			if (transaction != null) {
				operations.put(operation.method(), operation.withTransaction(transaction));
				logger.debug("The transaction of {} of bean '{}' begins right behind lock '{}'", operation.location(),
						beanName, operation.settings().name());
			}
		}
		if (!operations.isEmpty()) {
			advised.addAdvisor(advised.indexOf(next) + 1,
					new DefaultPointcutAdvisor(lock.getPointcut(), new ClaimInterceptor()));
			advised.replaceAdvisor(lock, lock.with(operations));
		}
	}

	/**
	 * The first advisor of transactions that is inside of the lock. A subclass of
	 * Spring's interceptor may work before its transaction begins.
	 */
	private static @Nullable Advisor transactionBehind(DistributedLockAdvisor lock, Advised advised) {
		return Arrays.stream(advised.getAdvisors())
			.skip(advised.indexOf(lock))
			.filter((advisor) -> advisor.getAdvice().getClass() == TransactionInterceptor.class)
			.findFirst()
			.orElse(null);
	}

	/**
	 * The transaction of a method, if it is the same and right behind the lock whatever
	 * interface the method is called by.
	 */
	private @Nullable BodyTransaction transaction(Method method, Advised advised, Advice lock, Advice transaction) {
		Class<?> targetClass = AopProxyUtils.ultimateTargetClass(advised);
		BodyTransaction found = null;
		for (Method called : Stream.concat(Stream.of(method), LockAnnotations.interfaceMethods(method, targetClass))
			.toList()) {
			List<Object> chain = DefaultAdvisorChainFactory.INSTANCE
				.getInterceptorsAndDynamicInterceptionAdvice(advised, called, targetClass);
			int next = chain.indexOf(lock) + 1;
			BodyTransaction declared = DeclaredTransactions.find((TransactionInterceptor) transaction, called,
					targetClass, this.source.beanFactory(), true);
			if (declared == null || next == 0 || next == chain.size() || chain.get(next) != transaction
					|| (found != null && !found.definition().equals(declared.definition()))) {
				return null;
			}
			found = declared;
		}
		return found;
	}

}
