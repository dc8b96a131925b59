package io.github.holdfast.check;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.scope.ScopedObject;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.SmartInstantiationAwareBeanPostProcessor;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.core.MethodIntrospector;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.interceptor.TransactionInterceptor;
import org.springframework.util.ClassUtils;

import io.github.holdfast.LockBackend;
import io.github.holdfast.core.LockConfigurationException;
import io.github.holdfast.interceptor.BodyTransactions;
import io.github.holdfast.interceptor.LockAnnotations;
import io.github.holdfast.interceptor.LockOperation;
import io.github.holdfast.interceptor.LockOperationSource;
import io.github.holdfast.interceptor.Mocks;

/**
 * Looks at each bean when it is complete, also at lazy and prototype ones, and refuses
 * those whose lock would be missed or released before the commit.
 *
 * @since 0.2.0
 */
public final class LockedBeanCheck implements SmartInstantiationAwareBeanPostProcessor, BeanFactoryAware,
		SmartInitializingSingleton, ApplicationListener<ContextRefreshedEvent> {

	private final LockOperationSource source;

	private final Function<Set<LockBackend.Capability>, String> remedy;

	private final SelfCallCheck selfCalls;

	private final EntityArgumentCheck entities;

	private final TransactionReport transactions;

	private final BooleanSupplier refusesInTransactions;

	private final Queue<LockOperation> unchecked = new ConcurrentLinkedQueue<>();

	private final Set<String> seen = ConcurrentHashMap.newKeySet();

	/** Beans that are not complete and whose proxy has been checked. */
	private final Set<String> early = ConcurrentHashMap.newKeySet();

	private @Nullable ConfigurableListableBeanFactory beanFactory;

	private volatile boolean complete;

	/**
	 * Create a check.
	 * @param source knows the annotated methods
	 * @param remedy tells what to do about capabilities that the backend does not have
	 * @param onSelfCall tells what to do about calls of locked methods on their own
	 * object
	 * @param onEntityArgument tells what to do about locked methods that take entities
	 * @param refusesInTransactions tells whether locked calls are refused inside of
	 * transactions
	 */
	public LockedBeanCheck(LockOperationSource source, Function<Set<LockBackend.Capability>, String> remedy,
			Supplier<OnSelfCall> onSelfCall, Supplier<OnEntityArgument> onEntityArgument,
			BooleanSupplier refusesInTransactions) {
		this.source = source;
		this.remedy = remedy;
		this.selfCalls = new SelfCallCheck(source, onSelfCall);
		this.entities = new EntityArgumentCheck(onEntityArgument);
		this.transactions = new TransactionReport(source);
		this.refusesInTransactions = refusesInTransactions;
	}

	@Override
	public void setBeanFactory(BeanFactory beanFactory) {
		this.beanFactory = (ConfigurableListableBeanFactory) beanFactory;
	}

	@Override
	public Object postProcessBeforeInitialization(Object bean, String beanName) {
		if (this.beanFactory != null) {
			FinalClassCheck.check(bean, beanName, this.source, this.beanFactory);
		}
		return bean;
	}

	/**
	 * In a cycle of references the proxy is made before the bean is complete, and all
	 * post-processors get the bean itself later on. They must not call a locked method.
	 */
	@Override
	public Object getEarlyBeanReference(Object bean, String beanName) {
		if (BodyTransactions.indexOfLock(advisors(bean)) >= 0) {
			checkCallersInCycle(bean, beanName);
			check(bean, beanName);
			this.early.add(beanName);
		}
		return bean;
	}

	/**
	 * Singletons of the start that have no proxy here are looked at once more when the
	 * start is complete, later ones are not.
	 */
	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		boolean checkedEarly = this.early.remove(beanName);
		if (BodyTransactions.indexOfLock(advisors(bean)) >= 0 || !isSingleton(beanName)
				|| (this.complete && !checkedEarly)) {
			if (!this.complete) {
				this.seen.add(beanName);
			}
			check(bean, beanName);
		}
		return bean;
	}

	private boolean isSingleton(String beanName) {
		return this.beanFactory != null && this.beanFactory.containsBean(beanName)
				&& !this.beanFactory.isFactoryBean(beanName) && this.beanFactory.isSingleton(beanName);
	}

	/**
	 * What a bean is made of, or {@code null} if it is not made by a definition, as the
	 * product of a factory.
	 */
	private @Nullable BeanDefinition definition(Object bean, String beanName) {
		ConfigurableListableBeanFactory beanFactory = this.beanFactory;
		if (beanFactory == null || !beanFactory.containsBeanDefinition(beanName)
				|| (!(bean instanceof FactoryBean) && beanFactory.isFactoryBean(beanName))) {
			return null;
		}
		return beanFactory.getMergedBeanDefinition(beanName);
	}

	private void check(Object bean, String beanName) {
		Class<?> targetClass = AopProxyUtils.ultimateTargetClass(bean);
		if (targetClass.getName().startsWith("org.springframework.") || bean instanceof ScopedObject) {
			return;
		}
		Collection<LockOperation> operations = this.source.getAll(targetClass);
		if (!operations.isEmpty()) {
			List<Advisor> advisors = advisors(bean);
			BeanDefinition definition = definition(bean, beanName);
			for (LockOperation operation : operations) {
				checkCaller(operation, beanName, targetClass, definition);
				check(operation, bean, beanName, targetClass, advisors);
				this.source.bodies().note(operation, targetClass, bean, advisors);
			}
			if (!Mocks.isMock(bean)) {
				this.selfCalls.check(targetClass, beanName);
				this.entities.check(operations, targetClass, beanName);
				if (!this.complete) {
					operations.forEach((operation) -> this.transactions.note(operation, targetClass,
							transaction(advisors, operation.method(), targetClass)));
				}
			}
			this.unchecked.addAll(operations);
			if (this.complete) {
				checkSupported();
			}
		}
	}

	private static void checkCaller(LockOperation operation, String beanName, Class<?> targetClass,
			@Nullable BeanDefinition definition) {
		String reason = ContainerCalls.reason(operation.method(), targetClass, definition);
		if (reason != null) {
			throw new LockConfigurationException(
					where(operation.location(), beanName) + "has no effect when Spring calls the method by itself ("
							+ reason + "): it does so on the bean and not on its proxy.",
					"Call a locked method of another bean from there, or use LockTemplate.");
		}
	}

	private void checkCallersInCycle(Object proxy, String beanName) {
		Class<?> targetClass = AopProxyUtils.ultimateTargetClass(proxy);
		MethodIntrospector.selectMethods(targetClass,
				(MethodIntrospector.MetadataLookup<String>) (method) -> this.source.isLocked(method, targetClass)
						? ContainerCalls.reasonInCycle(method) : null)
			.forEach((method, reason) -> {
				throw new LockConfigurationException(
						where(LockOperationSource.location(method, targetClass), beanName)
								+ "has no effect when Spring calls the method by itself (" + reason
								+ "): the bean is in a cycle of references, where that is done on the bean and not on "
								+ "its proxy.",
						"Break the cycle, for example by @Lazy at one of its references, or move the locked method to "
								+ "a bean of its own.");
			});
	}

	private static String where(String location, String beanName) {
		return "@DistributedLock on " + location + " of bean '" + beanName + "' ";
	}

	private static void check(LockOperation operation, Object bean, String beanName, Class<?> targetClass,
			List<Advisor> advisors) {
		String where = where(operation.location(), beanName);
		int lock = BodyTransactions.indexOfLock(advisors);
		if (lock < 0 && Mocks.isMock(bean)) {
			return;
		}
		if (lock < 0) {
			throw new LockConfigurationException(where + "has no effect, as the bean is not proxied for locks.",
					"Let Spring create the bean as usual; a bean that a BeanPostProcessor or a "
							+ "BeanFactoryPostProcessor depends on is created too early for proxies: let that have an "
							+ "ObjectProvider instead.");
		}
		if (!isOnInterface(operation.method(), bean, targetClass)) {
			checkReachable(operation.method(), bean, where);
		}
		Method fallback = operation.fallback();
		if (fallback != null) {
			checkReachable(fallback, bean, where);
		}
		if (transaction(advisors.subList(0, lock), operation.method(), targetClass) != null) {
			throw new LockConfigurationException(
					where + "would be taken inside of the method's transaction and released before the commit: "
							+ "the transaction advisor comes first.",
					"Set 'holdfast.order' to a smaller number than the order of the transaction advisor "
							+ "(see @EnableTransactionManagement), or leave both at their defaults.");
		}
	}

	/**
	 * Whether a JDK proxy has the method under other types than the class that it is
	 * inherited from.
	 */
	private static boolean isOnInterface(Method method, Object bean, Class<?> targetClass) {
		return AopUtils.isJdkDynamicProxy(bean) && LockAnnotations.implemented(method, targetClass)
			.anyMatch((declared) -> declared.getDeclaringClass().isInstance(bean));
	}

	private static void checkReachable(Method method, Object bean, String where) {
		if (AopUtils.isJdkDynamicProxy(bean)) {
			try {
				AopUtils.selectInvocableMethod(method, bean.getClass());
			}
			catch (IllegalStateException ex) {
				throw new LockConfigurationException(
						where + "has no effect: method '" + method.getName()
								+ "' is not on an interface of the bean's JDK proxy.",
						"Declare the method on an interface, or set 'spring.aop.proxy-target-class' to 'true'.", ex);
			}
		}
		else if (Modifier.isFinal(method.getModifiers())) {
			throw new LockConfigurationException(
					where + "has no effect: method '" + method.getName()
							+ "' is final, so that the bean's proxy cannot intercept it.",
					"Remove 'final' from the method.");
		}
		else if (isHidden(method, bean.getClass())) {
			throw new LockConfigurationException(
					where + "has no effect: method '" + method.getName() + "' is package-private in "
							+ method.getDeclaringClass().getPackageName()
							+ ", so that the bean's proxy cannot intercept it.",
					"Make the method public or protected.");
		}
	}

	/**
	 * Whether the method is one that only classes of another package can override.
	 */
	private static boolean isHidden(Method method, Class<?> proxyClass) {
		boolean packagePrivate = (method.getModifiers()
				& (Modifier.PUBLIC | Modifier.PROTECTED | Modifier.PRIVATE)) == 0;
		Class<?> declaringClass = method.getDeclaringClass();
		return packagePrivate && !(declaringClass.getPackageName().equals(proxyClass.getPackageName())
				&& declaringClass.getClassLoader() == proxyClass.getClassLoader());
	}

	/**
	 * The transaction of a method by some advisors. A JDK proxy also finds those of an
	 * interface that only the bean's class knows of, and not that of the method.
	 */
	private static @Nullable TransactionAttribute transaction(List<Advisor> advisors, Method method,
			Class<?> targetClass) {
		return Stream.concat(Stream.of(method), LockAnnotations.implemented(method, targetClass))
			.flatMap((declared) -> advisors.stream()
				.map((advisor) -> BodyTransactions.transactionAttribute(advisor, declared, targetClass)))
			.filter(Objects::nonNull)
			.findFirst()
			.orElse(null);
	}

	/**
	 * The advisors of a bean, outermost first, through proxies of proxies.
	 */
	private static List<Advisor> advisors(Object bean) {
		List<Advisor> advisors = new ArrayList<>();
		Object proxy = bean;
		while (proxy instanceof Advised advised) {
			advisors.addAll(List.of(advised.getAdvisors()));
			proxy = AopProxyUtils.getSingletonTarget(proxy);
		}
		return advisors;
	}

	@Override
	public void afterSingletonsInstantiated() {
		checkOtherSingletons();
		checkParents();
		this.complete = true;
		tellOfTransactions();
		this.seen.clear();
		checkSupported();
	}

	private void tellOfTransactions() {
		ConfigurableListableBeanFactory beans = this.beanFactory;
		if (beans == null || !this.transactions.hasMethods() || BeanFactoryUtils
			.beanNamesForTypeIncludingAncestors(beans, TransactionManager.class, true, false).length == 0) {
			return;
		}
		this.transactions.tellMethodsWithoutTransaction();
		if (this.refusesInTransactions.getAsBoolean()) {
			Stream.of(beans.getSingletonNames()).map(beans::getSingleton).forEach(this::findCalls);
			this.transactions.tellCalls();
		}
	}

	private void findCalls(@Nullable Object bean) {
		List<Advisor> advisors = (bean != null) ? advisors(bean) : List.of();
		if (bean != null
				&& advisors.stream().anyMatch((advisor) -> advisor.getAdvice() instanceof TransactionInterceptor)) {
			Class<?> beanClass = ClassUtils.getUserClass(AopProxyUtils.ultimateTargetClass(bean));
			if (!beanClass.getName().startsWith("org.springframework.")) {
				this.transactions.findCalls(beanClass, (method) -> transaction(advisors, method, beanClass));
			}
		}
	}

	/**
	 * Singletons that came by without a proxy may have got one earlier, in a cycle of
	 * references; those that another post-processor needed have not come by at all.
	 */
	private void checkOtherSingletons() {
		if (this.beanFactory == null) {
			return;
		}
		for (String name : this.beanFactory.getSingletonNames()) {
			Object bean = this.seen.contains(name) ? null : this.beanFactory.getSingleton(name);
			if (bean != null) {
				check(bean, name);
			}
			if (bean instanceof FactoryBean<?> factory && factory.isSingleton()) {
				// As early as the factory, its product may have been made
				checkProduct(this.beanFactory.getBean(name), name);
			}
		}
	}

	/**
	 * A factory may make nothing.
	 */
	private void checkProduct(Object product, String name) {
		if (!this.seen.contains(name)) {
			check(product, name);
		}
	}

	private void checkParents() {
		BeanFactory parent = (this.beanFactory != null) ? this.beanFactory.getParentBeanFactory() : null;
		while (parent instanceof ConfigurableListableBeanFactory beans) {
			checkUnlocked(beans, "parent");
			parent = beans.getParentBeanFactory();
		}
	}

	/**
	 * Contexts tell their parents, too, when they are complete.
	 */
	@Override
	public void onApplicationEvent(ContextRefreshedEvent event) {
		if (event.getApplicationContext()
			.getAutowireCapableBeanFactory() instanceof ConfigurableListableBeanFactory beans
				&& beans != this.beanFactory) {
			checkUnlocked(beans, "child");
		}
	}

	/**
	 * Proxies for locks are made by the context of the bean only.
	 */
	private void checkUnlocked(ConfigurableListableBeanFactory beans, String relation) {
		if (beans.getBeanNamesForType(LockedBeanCheck.class, true, false).length > 0) {
			return;
		}
		LockNames names = new LockNames(this.source, beans);
		for (String beanName : LockNames.beans(beans)) {
			Object bean = beans.containsSingleton(beanName) ? beans.getSingleton(beanName) : null;
			boolean harmless = bean != null
					&& (Mocks.isMock(bean) || BodyTransactions.indexOfLock(advisors(bean)) >= 0);
			if (!harmless && !names.find(beanName).isEmpty()) {
				throw new LockConfigurationException(
						"@DistributedLock on methods of bean '" + beanName + "' has no effect, as the bean is in a "
								+ relation + " context without locks.",
						"Define the bean in the context that has Holdfast's auto-configuration, or let the " + relation
								+ " context have it, too.");
			}
		}
	}

	private void checkSupported() {
		for (LockOperation operation = this.unchecked.poll(); operation != null; operation = this.unchecked.poll()) {
			try {
				operation.template().checkSupported();
			}
			catch (UnsupportedOperationException ex) {
				throw new LockConfigurationException(
						"@DistributedLock on " + operation.location() + " cannot be used: " + ex.getMessage() + ".",
						this.remedy.apply(operation.template().requiredCapabilities()), ex);
			}
			catch (IllegalArgumentException ex) {
				throw new LockConfigurationException(
						"@DistributedLock on " + operation.location() + " cannot be used: " + ex.getMessage() + ".",
						"Remove them from the annotation and from 'holdfast.locks', or use mode EXCLUSIVE.", ex);
			}
		}
	}

}
