package io.github.holdfast.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.DistributedLock.OnBusy;
import io.github.holdfast.LockConfigurationException;
import io.github.holdfast.LockMode;
import io.github.holdfast.core.LockManager;
import io.github.holdfast.core.LockSettings;
import io.github.holdfast.core.LockSettings.BodyTransaction;
import io.github.holdfast.core.LockSettings.Times;
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
import org.springframework.util.Assert;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Reads the annotation of each method once: the only class that knows its attributes.
 */
public final class LockOperationSource {

	private final Map<MethodClassKey, Optional<LockOperation>> operations = new ConcurrentHashMap<>();

	private final Map<List<Object>, BodyTransaction> bodies = new ConcurrentHashMap<>();

	private final SingletonSupplier<LockManager> manager;

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
		this.manager = SingletonSupplier.of(manager);
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
		return MethodIntrospector
			.selectMethods(targetClass, (MetadataLookup<LockOperation>) (method) -> get(method, targetClass))
			.values();
	}

	/**
	 * All operations of a bean. The transactions of these operations apply to the calls
	 * of this bean.
	 * @param bean the proxy of the bean
	 * @return the operations
	 * @throws LockConfigurationException if one of the annotations cannot work
	 */
	public Collection<LockOperation> getAll(Object bean) {
		DistributedLockAdvisor advisor = DistributedLockAdvisor.of(bean);
		Collection<LockOperation> operations = getAll(AopProxyUtils.ultimateTargetClass(bean));
		return (advisor != null) ? operations.stream().map(((LockInterceptor) advisor.getAdvice())::ofBean).toList()
				: operations;
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

	private static String location(Method method, Class<?> targetClass) {
		return ClassUtils.getShortName(targetClass) + "." + method.getName()
				+ Arrays.stream(method.getParameterTypes())
					.map(Class::getSimpleName)
					.collect(Collectors.joining(", ", "(", ")"));
	}

	LockManager manager() {
		return this.manager.obtain();
	}

	/**
	 * The transaction that a method declares, for all beans.
	 * @param advice the advice that begins it, if there is any
	 * @param innermost whether the advice comes right behind the lock
	 */
	@Nullable BodyTransaction transaction(@Nullable TransactionAspectSupport advice, Method method, Class<?> targetClass,
			boolean innermost) {
		return (advice == null) ? null : this.bodies.computeIfAbsent(List.of(advice, method, targetClass, innermost),
				(key) -> DeclaredTransactions.find(advice, method, targetClass, this.beanFactory, innermost));
	}

	private LockOperation parse(Method method, Class<?> targetClass) {
		String location = location(method, targetClass);
		MergedAnnotation<DistributedLock> annotation;
		try {
			long direct = MergedAnnotations.from(method).stream(DistributedLock.class).count();
			LockMethodRules.refuseIf(direct > 1,
					"@DistributedLock is present " + direct + " times on " + location + ".",
					"Use one annotation; for several locks let its key be a list: {'a', 'b'}.");
			annotation = LockAnnotations.find(method, targetClass);
		}
		catch (AnnotationConfigurationException ex) {
			throw new LockConfigurationException(
					"@DistributedLock on " + location + " cannot be read: " + ex.getMessage() + ".",
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

	private LockSettings settings(MergedAnnotation<DistributedLock> annotation, Method method, Class<?> targetClass,
			String location) {
		LockSettings defaults = this.defaults.get();
		try {
			Times times = new Times(duration(annotation, "waitTime", location),
					duration(annotation, "leaseTime", location), duration(annotation, "maxHoldTime", location),
					duration(annotation, "minHoldTime", location));
			return manager().effective(defaults.withName(name(annotation, method, targetClass, location))
				.withTimes(defaults.times().overriddenBy(times))
				.withMode(annotation.getEnum("mode", LockMode.class), annotation.getBoolean("fair"),
						annotation.getEnum("onBusy", OnBusy.class) == OnBusy.SKIP)
				.withTransaction(transaction(this.transactions.get(), method, targetClass, false)));
		}
		catch (IllegalArgumentException ex) {
			throw new LockConfigurationException(
					"@DistributedLock on " + location + " is not usable: " + ex.getMessage() + ".",
					"Correct the annotation, or 'holdfast.locks' if that overrides times of this lock.", ex);
		}
	}

	/**
	 * The name by default is that of the bean's class, or that of the interface that has
	 * the annotation if others implement it: Spring Data has its own class, MyBatis
	 * generates one.
	 */
	private String name(MergedAnnotation<DistributedLock> annotation, Method method, Class<?> targetClass,
			String location) {
		Class<?> declaring = LockAnnotations.annotatedMethod(annotation, method).getDeclaringClass();
		boolean generated = targetClass.isInterface() || Proxy.isProxyClass(targetClass) || targetClass.isHidden();
		Class<?> named = (generated || !declaring.isAssignableFrom(targetClass)) ? declaring : targetClass;
		String name = resolve(annotation, "name", location);
		return !name.isEmpty() ? name : ClassUtils.getShortName(named) + "." + method.getName();
	}

	private @Nullable Duration duration(MergedAnnotation<DistributedLock> annotation, String attribute,
			String location) {
		String text = resolve(annotation, attribute, location);
		try {
			Assert.isTrue(!text.matches("0*[1-9]\\d?"), "A number without a unit counts milliseconds");
			return text.isEmpty() ? null : DurationFormatterUtils.detectAndParse(text);
		}
		catch (IllegalArgumentException ex) {
			throw new LockConfigurationException("The " + attribute + " \"" + text + "\" of @DistributedLock on "
					+ location + " is not usable: " + ex.getMessage() + ".",
					"Write a duration such as \"500ms\", \"2s\" or \"PT2S\".", ex);
		}
	}

	/**
	 * Some resolvers throw for a placeholder without a value, others leave it as it is.
	 */
	private String resolve(MergedAnnotation<DistributedLock> annotation, String attribute, String location) {
		String text = annotation.getString(attribute);
		try {
			String resolved = Objects.requireNonNullElse(this.beanFactory.resolveEmbeddedValue(text), "");
			Assert.isTrue(!resolved.contains("${"), "Unresolved");
			return resolved.strip();
		}
		catch (IllegalArgumentException ex) {
			throw new LockConfigurationException(
					"The " + attribute + " \"" + text + "\" of @DistributedLock on " + location
							+ " has a placeholder without a value.",
					"Set the property, or give it a default: \"${name:default}\".", ex);
		}
	}

	/**
	 * What the annotation of a method says, with everything resolved that does not depend
	 * on the call.
	 *
	 * @param method the method of the target class
	 * @param location the method and its class, for messages
	 * @param settings how to take the locks; their transaction is the one that the method
	 * declares
	 * @param key gives the keys
	 * @param condition decides whether a lock is needed, or {@code null} for always
	 * @param onBusy what to do when the lock is busy
	 * @param fallback the method to call then, or {@code null} for none
	 */
	public record LockOperation(Method method, String location, LockSettings settings, LockExpression key,
			@Nullable LockExpression condition, OnBusy onBusy, @Nullable Method fallback) {

		LockOperation withTransaction(BodyTransaction transaction) {
			return new LockOperation(this.method, this.location, this.settings.withTransaction(transaction), this.key,
					this.condition, this.onBusy, this.fallback);
		}

		/**
		 * Evaluates the keys of a call.
		 * @param arguments the arguments
		 * @return the keys; none if the call needs no lock
		 */
		Collection<String> keys(@Nullable Object[] arguments) {
			boolean needed = this.settings.enabled() && (this.condition == null || this.condition.isTrue(arguments));
			return needed ? this.key.keys(arguments) : List.of();
		}

		/**
		 * The result of a skipped call.
		 */
		@Nullable Object skipped() {
			return (this.method.getReturnType() == Optional.class) ? Optional.empty() : null;
		}

	}

}
