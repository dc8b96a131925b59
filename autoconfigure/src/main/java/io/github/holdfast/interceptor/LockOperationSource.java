package io.github.holdfast.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.DistributedLock.OnBusy;
import io.github.holdfast.LockConfigurationException;
import io.github.holdfast.LockMode;
import io.github.holdfast.core.BodyTransaction;
import io.github.holdfast.core.LockManager;
import io.github.holdfast.core.LockSettings;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.MethodClassKey;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.MethodIntrospector.MetadataLookup;
import org.springframework.core.annotation.AnnotationConfigurationException;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * Reads the annotation of each method once: the only class that knows its attributes.
 */
public final class LockOperationSource {

	private final Map<MethodClassKey, Optional<LockOperation>> operations = new ConcurrentHashMap<>();

	private final Supplier<LockManager> manager;

	private final Supplier<LockSettings> defaults;

	private final Supplier<@Nullable TransactionAspectSupport> transactions;

	private final ConfigurableBeanFactory beanFactory;

	private final LockExpressionParser parser;

	/**
	 * Create a source.
	 * @param manager supplies the manager that takes the locks
	 * @param defaults supplies the configured settings
	 * @param transactions supplies the advice of {@code @Transactional} methods
	 * @param beanFactory resolves placeholders and bean references, and has the
	 * transaction managers
	 */
	public LockOperationSource(Supplier<LockManager> manager, Supplier<LockSettings> defaults,
			Supplier<@Nullable TransactionAspectSupport> transactions, ConfigurableBeanFactory beanFactory) {
		this.manager = manager;
		this.defaults = defaults;
		this.transactions = transactions;
		this.beanFactory = beanFactory;
		this.parser = new LockExpressionParser(beanFactory);
	}

	/**
	 * Whether a method is annotated: itself, or one of an interface or superclass.
	 * @param method a method of the class or of an interface
	 * @param targetClass the class of the bean
	 * @return whether calls of the method are locked
	 */
	public boolean isLocked(Method method, Class<?> targetClass) {
		return LockAnnotations.isPresent(method, targetClass);
	}

	/**
	 * The operation of a method.
	 * @param method a method of the class or of an interface
	 * @param targetClass the class of the bean
	 * @return the operation, or {@code null} if the method is not annotated
	 * @throws LockConfigurationException if the annotation cannot work
	 */
	public @Nullable LockOperation get(Method method, Class<?> targetClass) {
		MethodClassKey key = new MethodClassKey(method, targetClass);
		Optional<LockOperation> operation = this.operations.get(key);
		if (operation == null) {
			// Not in computeIfAbsent: this may create beans, whose methods are read too
			Method specific = AopUtils.getMostSpecificMethod(method, targetClass);
			operation = isLocked(specific, targetClass) ? Optional.of(parse(specific, targetClass)) : Optional.empty();
			this.operations.put(key, operation);
		}
		return operation.orElse(null);
	}

	/**
	 * All operations of a class.
	 * @param targetClass the class
	 * @return the operations
	 * @throws LockConfigurationException if one of the annotations cannot work
	 */
	public Collection<LockOperation> getAll(Class<?> targetClass) {
		return select(targetClass, (method) -> get(method, targetClass));
	}

	/**
	 * All operations of a bean. Their transactions are those that count for the calls of
	 * this bean.
	 * @param bean the bean, as a proxy
	 * @return the operations
	 * @throws LockConfigurationException if one of the annotations cannot work
	 */
	public Collection<LockOperation> getAll(Object bean) {
		DistributedLockAdvisor advisor = DistributedLockAdvisor.of(bean);
		Collection<LockOperation> operations = getAll(AopProxyUtils.ultimateTargetClass(bean));
		return (advisor != null) ? operations.stream().map(advisor::ofBean).toList() : operations;
	}

	/**
	 * The names of all locks of a class, whether their annotations can work or not.
	 * @param targetClass the class
	 * @return the names
	 */
	public Collection<String> names(Class<?> targetClass) {
		return select(targetClass, (method) -> isLocked(method, targetClass)
				? name(LockAnnotations.find(method, targetClass), method, targetClass) : null);
	}

	private static <T> Collection<T> select(Class<?> targetClass, MetadataLookup<T> lookup) {
		return MethodIntrospector.selectMethods(targetClass, lookup).values();
	}

	/**
	 * Finds the method by which a proxy is called.
	 * @param method the method of the target class
	 * @param proxy the proxy
	 * @return the method, or that of an interface if the proxy has only interfaces;
	 * {@code null} if none of them has it
	 */
	public static @Nullable Method callable(Method method, Object proxy) {
		return !Proxy.isProxyClass(proxy.getClass()) ? method
				: LockAnnotations.interfaceMethods(method, AopProxyUtils.ultimateTargetClass(proxy))
					.filter((declared) -> declared.getDeclaringClass().isInstance(proxy))
					.findFirst()
					.orElse(null);
	}

	/**
	 * Describes a method, for messages.
	 * @param method the method
	 * @param targetClass the class of the bean
	 * @return the class, the method and the types of its parameters
	 */
	public static String location(Method method, Class<?> targetClass) {
		return ClassUtils.getShortName(targetClass) + "." + method.getName()
				+ Arrays.stream(method.getParameterTypes())
					.map(Class::getSimpleName)
					.collect(Collectors.joining(", ", "(", ")"));
	}

	LockManager manager() {
		return this.manager.get();
	}

	ConfigurableBeanFactory beanFactory() {
		return this.beanFactory;
	}

	private LockOperation parse(Method method, Class<?> targetClass) {
		String location = location(method, targetClass);
		refuseSecondAnnotation(method, location);
		MergedAnnotation<DistributedLock> annotation;
		try {
			annotation = LockAnnotations.find(method, targetClass);
		}
		catch (AnnotationConfigurationException ex) {
			throw new LockConfigurationException(
					"@DistributedLock on " + location + " cannot be read: " + ex.getMessage(),
					"Set either 'value' or 'key', not both.", ex);
		}
		Method annotated = LockAnnotations.annotatedMethod(annotation, method);
		String condition = annotation.getString("condition");
		LockOperation operation = new LockOperation(method, location,
				settings(annotation, method, targetClass, location),
				this.parser.parse("key", annotation.getString("key"), method, annotated, location),
				condition.isEmpty() ? null : this.parser.parse("condition", condition, method, annotated, location),
				annotation.getEnum("onBusy", OnBusy.class),
				LockMethodRules.fallback(annotation.getString("fallbackMethod"), method, targetClass, location));
		LockMethodRules.check(operation, targetClass);
		return operation;
	}

	private static void refuseSecondAnnotation(Method method, String location) {
		long direct = MergedAnnotations.from(method).stream().filter(LockOperationSource::isLock).count();
		if (direct > 1) {
			throw new LockConfigurationException(
					"@DistributedLock is present " + direct + " times on " + location
							+ ", directly or by composed annotations.",
					"Use one annotation; for several locks let its key be a list: {'a', 'b'}.");
		}
	}

	private static boolean isLock(MergedAnnotation<?> annotation) {
		return annotation.getType() == DistributedLock.class;
	}

	private LockSettings settings(MergedAnnotation<DistributedLock> annotation, Method method, Class<?> targetClass,
			String location) {
		LockSettings defaults = this.defaults.get();
		Duration waitTime = duration(annotation, "waitTime", location);
		Duration leaseTime = duration(annotation, "leaseTime", location);
		Duration maxHoldTime = duration(annotation, "maxHoldTime", location);
		Duration minHoldTime = duration(annotation, "minHoldTime", location);
		try {
			LockSettings settings = defaults.withName(name(annotation, method, targetClass))
				.withTimes(defaults.times()
					.overriddenBy(new LockSettings.Times(waitTime, leaseTime, maxHoldTime, minHoldTime)))
				.withMode(annotation.getEnum("mode", LockMode.class), annotation.getBoolean("fair"),
						annotation.getEnum("onBusy", OnBusy.class) == OnBusy.SKIP)
				.withTransaction(transaction(method, targetClass));
			return manager().effective(settings);
		}
		catch (IllegalArgumentException ex) {
			throw new LockConfigurationException(
					"@DistributedLock on " + location + " is not usable: " + ex.getMessage() + ".",
					"Correct the annotation, or 'holdfast.locks' if that overrides times of this lock.", ex);
		}
	}

	private @Nullable BodyTransaction transaction(Method method, Class<?> targetClass) {
		TransactionAspectSupport advice = this.transactions.get();
		return (advice != null) ? DeclaredTransactions.find(advice, method, targetClass, this.beanFactory, false)
				: null;
	}

	private String name(MergedAnnotation<DistributedLock> annotation, Method method, Class<?> targetClass) {
		String name = resolve(annotation, "name", location(method, targetClass));
		return StringUtils.hasText(name) ? name
				: ClassUtils.getShortName(namingClass(annotation, method, targetClass)) + "." + method.getName();
	}

	/**
	 * The class of the bean, or the interface that has the annotation if its
	 * implementation is not the user's: Spring Data has its own class, MyBatis generates
	 * one.
	 */
	private static Class<?> namingClass(MergedAnnotation<DistributedLock> annotation, Method method,
			Class<?> targetClass) {
		Class<?> declaring = LockAnnotations.annotatedMethod(annotation, method).getDeclaringClass();
		boolean written = !targetClass.isInterface() && !Proxy.isProxyClass(targetClass) && !targetClass.isHidden();
		return (written && declaring.isAssignableFrom(targetClass)) ? targetClass : declaring;
	}

	private @Nullable Duration duration(MergedAnnotation<DistributedLock> annotation, String attribute,
			String location) {
		String text = resolve(annotation, attribute, location).strip();
		if (text.isEmpty()) {
			return null;
		}
		String where = "The " + attribute + " \"" + text + "\" of @DistributedLock on " + location;
		if (text.matches("0*[1-9]\\d?")) {
			throw new LockConfigurationException(
					where + " means " + text + " milliseconds, because a number without a unit counts those.",
					"Write \"" + text + "s\", or \"" + text + "ms\" if that is meant.");
		}
		try {
			return DurationFormatterUtils.detectAndParse(text);
		}
		catch (IllegalArgumentException ex) {
			throw new LockConfigurationException(where + " is not usable: " + ex.getMessage() + ".",
					"Write a duration such as \"500ms\", \"2s\" or \"PT2S\".", ex);
		}
	}

	/**
	 * Some resolvers throw for a placeholder without a value, others leave it as it is.
	 */
	private String resolve(MergedAnnotation<DistributedLock> annotation, String attribute, String location) {
		String text = annotation.getString(attribute);
		String resolved = text;
		IllegalArgumentException failure = null;
		try {
			resolved = this.beanFactory.resolveEmbeddedValue(text);
		}
		catch (IllegalArgumentException ex) {
			failure = ex;
		}
		if (failure != null || (resolved != null && resolved.contains("${"))) {
			throw new LockConfigurationException(
					"The " + attribute + " \"" + text + "\" of @DistributedLock on " + location
							+ " has a placeholder without a value.",
					"Set the property, or give it a default: \"${name:default}\".", failure);
		}
		return (resolved != null) ? resolved : "";
	}

}
