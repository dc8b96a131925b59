package io.github.holdfast.check;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.github.holdfast.LockConfigurationException;
import io.github.holdfast.LockMode;
import io.github.holdfast.core.LockSettings;
import io.github.holdfast.interceptor.DistributedLockAdvisor;
import io.github.holdfast.interceptor.LockOperationSource;
import io.github.holdfast.interceptor.LockOperationSource.LockOperation;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.scope.ScopedObject;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionInterceptor;

/**
 * Checks each bean with locked methods after Spring has created it. A bean whose locks
 * would have no effect, or would be released before the commit, cannot be created.
 */
public final class LockedBeanCheck implements BeanPostProcessor {

	private static final Logger logger = LoggerFactory.getLogger(LockedBeanCheck.class);

	private final LockOperationSource source;

	private final Consumer<LockConfigurationException> selfCalls;

	private final Consumer<LockSettings> supported;

	private final Map<String, LockOperation> checked = new ConcurrentSkipListMap<>();

	/**
	 * Create a check.
	 * @param source the annotated methods
	 * @param selfCalls throws or logs what was found about self-invocations
	 * @param supported throws an {@link UnsupportedOperationException} for settings that
	 * the backend cannot serve
	 */
	public LockedBeanCheck(LockOperationSource source, Consumer<LockConfigurationException> selfCalls,
			Consumer<LockSettings> supported) {
		this.source = source;
		this.selfCalls = selfCalls;
		this.supported = supported;
	}

	/**
	 * The locked methods of all beans that have been created.
	 * @return the methods, sorted
	 */
	public Collection<LockOperation> operations() {
		return this.checked.values();
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		Class<?> targetClass = AopProxyUtils.ultimateTargetClass(bean);
		if (!(bean instanceof ScopedObject) && (DistributedLockAdvisor.of(bean) != null
				|| !targetClass.getName().startsWith("org.springframework."))) {
			Collection<LockOperation> operations = this.source.getAll(bean);
			operations.forEach((operation) -> check(operation, bean, beanName, targetClass));
			if (!this.checked.values().containsAll(operations)) {
				checkSelfCalls(SelfCallFinder.find(this.source, targetClass), beanName);
				operations.forEach((operation) -> add(operation, targetClass));
			}
		}
		return bean;
	}

	private void check(LockOperation operation, Object bean, String beanName, Class<?> targetClass) {
		String where = "@DistributedLock on " + operation.location() + " of bean '" + beanName + "' ";
		List<Advisor> advisors = Stream.iterate(bean, Advised.class::isInstance, AopProxyUtils::getSingletonTarget)
			.flatMap((proxy) -> Stream.of(((Advised) proxy).getAdvisors()))
			.toList();
		int lock = advisors.stream().map(DistributedLockAdvisor.class::isInstance).toList().indexOf(true);
		refuseIf(lock < 0, where + "has no effect: the bean has no proxy that takes locks.",
				"Remove circular references, and do not inject the bean into a post-processor of Spring.");
		checkReachable(operation, bean, where);
		refuseIf(advisors.subList(0, lock).stream().anyMatch((outer) -> begins(outer, operation, targetClass)),
				where + "would be released before the commit: the transaction advisor comes before the lock.",
				"Set 'holdfast.order' below the order of the transaction advisor; with method security, for example, to "
						+ "449 with @EnableTransactionManagement(order = 450).");
	}

	private static void refuseIf(boolean wrong, String description, String action) {
		if (wrong) {
			throw new LockConfigurationException(description, action);
		}
	}

	private static boolean begins(Advisor advisor, LockOperation operation, Class<?> targetClass) {
		TransactionAttributeSource source = (advisor.getAdvice() instanceof TransactionInterceptor transactions)
				? transactions.getTransactionAttributeSource() : null;
		return source != null && source.getTransactionAttribute(operation.method(), targetClass) != null;
	}

	private static void checkReachable(LockOperation operation, Object bean, String where) {
		Method method = operation.method();
		refuseIf(
				LockOperationSource.callable(method, bean) == null || operation.fallback() != null
						&& LockOperationSource.callable(operation.fallback(), bean) == null,
				where + "has no effect: the method or its fallback is not on an interface of the bean's JDK proxy.",
				"Declare it on an interface, or set 'spring.aop.proxy-target-class' to 'true'.");
		boolean hidden = (method.getModifiers() & (Modifier.PUBLIC | Modifier.PROTECTED)) == 0
				&& !method.getDeclaringClass().getPackageName().equals(bean.getClass().getPackageName());
		refuseIf(!AopUtils.isJdkDynamicProxy(bean) && (hidden || Modifier.isFinal(method.getModifiers())),
				where + "has no effect: the method is final, or package-private in another package.",
				"Remove 'final' from the method, and make it public or protected.");
	}

	private void checkSelfCalls(List<String> calls, String beanName) {
		if (!calls.isEmpty()) {
			this.selfCalls.accept(new LockConfigurationException(
					"Calls past the proxy of bean '" + beanName + "' take no lock: " + calls + ".",
					"Move the locked method to another bean, or call it on an injected @Lazy reference to the bean itself. "
							+ "To start anyway, set 'holdfast.startup-checks' to 'warn'."));
		}
	}

	private void add(LockOperation operation, Class<?> targetClass) {
		if (EntityArguments.isTakenBy(operation.method(), targetClass)) {
			logger.warn(
					"{} takes an entity without a @Version: saving a stale one overwrites later changes. Pass the ID",
					operation.location());
		}
		try {
			this.supported.accept(operation.settings());
		}
		catch (UnsupportedOperationException ex) {
			String remedy = (operation.settings().mode() == LockMode.OPTIMISTIC) ? "Set both properties"
					: "Set 'holdfast.backend' to 'redis', 'redisson', 'zookeeper' or 'etcd'";
			throw new LockConfigurationException(
					"@DistributedLock on " + operation.location() + " cannot work: " + ex.getMessage() + ".",
					remedy + ", or remove 'mode' and 'fair'.", ex);
		}
		this.checked.put(targetClass.getName() + operation.method(), operation);
	}

}
