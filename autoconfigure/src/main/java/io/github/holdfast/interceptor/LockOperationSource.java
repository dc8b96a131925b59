package io.github.holdfast.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.MethodClassKey;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.expression.EvaluationContext;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;
import org.springframework.util.function.SingletonSupplier;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.LockConfigurationException;
import io.github.holdfast.core.TemplateAccess;

/**
 * Reads the annotation of each method once: the only class that knows its attributes.
 *
 * @since 0.2.0
 */
public final class LockOperationSource {

	private final Map<MethodClassKey, Optional<LockOperation>> operations = new ConcurrentHashMap<>();

	private final BodyTransactions bodies = new BodyTransactions();

	private final Supplier<LockTemplate> template;

	private final Supplier<@Nullable TransactionAttributeSource> transactionAttributes;

	private final TransactionManagers transactionManagers;

	private final ConfigurableBeanFactory beanFactory;

	private final LockExpressionParser parser;

	/**
	 * Create a source.
	 * @param template supplies the template with the configured defaults
	 * @param transactionAttributes supplies what knows the transactions of methods
	 * @param transactionManagers knows the transaction managers of methods
	 * @param beanFactory resolves placeholders and bean references
	 */
	public LockOperationSource(Supplier<LockTemplate> template,
			Supplier<@Nullable TransactionAttributeSource> transactionAttributes,
			TransactionManagers transactionManagers, ConfigurableBeanFactory beanFactory) {
		this.template = SingletonSupplier.of(template);
		this.transactionAttributes = transactionAttributes;
		this.transactionManagers = transactionManagers;
		this.beanFactory = beanFactory;
		this.parser = new LockExpressionParser(beanFactory);
	}

	/**
	 * Whether a method is annotated, itself or on an interface or superclass.
	 */
	public boolean isLocked(Method method, @Nullable Class<?> targetClass) {
		return LockAnnotations.isPresent(AopUtils.getMostSpecificMethod(method, targetClass), targetClass);
	}

	/**
	 * The operation of a method.
	 * @return the operation, or {@code null} if the method is not annotated
	 * @throws LockConfigurationException if the annotation cannot work
	 */
	@Nullable LockOperation get(Method method, Class<?> targetClass) {
		MethodClassKey key = new MethodClassKey(method, targetClass);
		Optional<LockOperation> operation = this.operations.get(key);
		if (operation == null) {
			// Not in computeIfAbsent: this may create beans, whose methods are read too
			operation = read(method, targetClass);
			this.operations.put(key, operation);
		}
		return operation.orElse(null);
	}

	private Optional<LockOperation> read(Method method, Class<?> targetClass) {
		Method specific = AopUtils.getMostSpecificMethod(method, targetClass);
		MergedAnnotation<DistributedLock> annotation = LockAnnotations.find(specific, targetClass);
		return annotation.isPresent() ? Optional.of(parse(annotation, specific, targetClass)) : Optional.empty();
	}

	/**
	 * What is inside of the locks.
	 */
	public BodyTransactions bodies() {
		return this.bodies;
	}

	/**
	 * All operations of a class.
	 * @throws LockConfigurationException if one of the annotations cannot work
	 */
	public Collection<LockOperation> getAll(Class<?> targetClass) {
		Map<Method, LockOperation> found = MethodIntrospector.selectMethods(targetClass,
				(MethodIntrospector.MetadataLookup<LockOperation>) (method) -> get(method, targetClass));
		return found.values();
	}

	/**
	 * The names of all locks of a class, whether their annotations can work or not.
	 */
	public Collection<String> names(Class<?> targetClass) {
		return MethodIntrospector.selectMethods(targetClass, (MethodIntrospector.MetadataLookup<String>) (method) -> {
			Method specific = AopUtils.getMostSpecificMethod(method, targetClass);
			MergedAnnotation<DistributedLock> annotation = LockAnnotations.find(specific, targetClass);
			return annotation.isPresent() ? name(annotation, specific, targetClass) : null;
		}).values();
	}

	EvaluationContext context(LockOperation operation, @Nullable Object[] arguments) {
		return this.parser.context(operation.parameterNames(), arguments);
	}

	/**
	 * A method and its class, for messages.
	 */
	public static String location(Method method, Class<?> targetClass) {
		return ClassUtils.getShortName(targetClass) + "." + method.getName() + "("
				+ StringUtils.collectionToDelimitedString(
						Arrays.stream(method.getParameterTypes()).map(Class::getSimpleName).toList(), ", ")
				+ ")";
	}

	private LockOperation parse(MergedAnnotation<DistributedLock> annotation, Method method, Class<?> targetClass) {
		String location = location(method, targetClass);
		refuseSecondAnnotation(method, location);
		refuseDifferentAnnotations(method, targetClass, location);
		String condition = annotation.getString("condition");
		DistributedLock.OnBusy onBusy = annotation.getEnum("onBusy", DistributedLock.OnBusy.class);
		List<String> names = LockExpressionParser.parameterNames(method,
				LockAnnotations.declaringMethod(annotation, method));
		LockOperation operation = new LockOperation(method, location,
				template(annotation, method, targetClass, location), annotation.getEnum("mode", LockRequest.Mode.class),
				this.parser.parse("key", annotation.getString("key"), method, names, location),
				condition.isEmpty() ? null : this.parser.parse("condition", condition, method, names, location), onBusy,
				LockMethodRules.fallback(annotation.getString("fallback"), method, targetClass, location), names,
				LockMethodRules.mayReturnLater(method, targetClass));
		LockMethodRules.check(operation, targetClass);
		return operation;
	}

	private static void refuseSecondAnnotation(Method method, String location) {
		List<MergedAnnotation<DistributedLock>> direct = MergedAnnotations.from(method)
			.stream(DistributedLock.class)
			.toList();
		if (direct.size() > 1) {
			throw new LockConfigurationException(
					"@DistributedLock is present " + direct.size() + " times on " + location
							+ ", directly or by composed annotations.",
					"Use one annotation; for several locks let its key be a list: {'a', 'b'}.");
		}
	}

	/**
	 * Callers by one interface would not be kept from each other by those by the other.
	 */
	private static void refuseDifferentAnnotations(Method method, Class<?> targetClass, String location) {
		List<MergedAnnotation<DistributedLock>> all = LockAnnotations.findAll(method, targetClass);
		if (all.stream().map(MergedAnnotation::asMap).distinct().count() > 1) {
			throw new LockConfigurationException(
					"@DistributedLock on " + location + " has different attributes in "
							+ all.stream()
								.map((annotation) -> ClassUtils
									.getShortName(LockAnnotations.declaringClass(annotation, method)))
								.distinct()
								.sorted()
								.collect(Collectors.joining(" and "))
							+ ".",
					"Annotate the method of " + ClassUtils.getShortName(method.getDeclaringClass())
							+ ", which then counts alone.");
		}
	}

	private LockTemplate template(MergedAnnotation<DistributedLock> annotation, Method method, Class<?> targetClass,
			String location) {
		LockTemplate configured = this.template.get();
		if (Mocks.isMock(configured)) {
			throw new LockConfigurationException("The LockTemplate bean is a mock: locked methods would have no lock.",
					"Set 'holdfast.enabled' to 'false' where it is mocked.");
		}
		LockTemplate template = configured.withName(name(annotation, method, targetClass))
			.withMode(annotation.getEnum("mode", LockRequest.Mode.class))
			.withFair(annotation.getBoolean("fair"));
		template = TemplateAccess.withSkips(withPropagation(template, method, targetClass),
				annotation.getEnum("onBusy", DistributedLock.OnBusy.class) == DistributedLock.OnBusy.SKIP);
		template = with(template, annotation, "waitTime", location, LockTemplate::withWaitTime);
		template = with(template, annotation, "leaseTime", location, LockTemplate::withLeaseTime);
		template = with(template, annotation, "maxHoldTime", location, LockTemplate::withMaxHoldTime);
		return with(template, annotation, "minHoldTime", location, LockTemplate::withMinHoldTime);
	}

	private String name(MergedAnnotation<DistributedLock> annotation, Method method, Class<?> targetClass) {
		String name = resolve(annotation, "name", location(method, targetClass));
		return StringUtils.hasText(name) ? name
				: ClassUtils.getShortName(namingClass(annotation, method, targetClass)) + "." + method.getName();
	}

	/**
	 * The class of the bean, or the interface with the annotation where somebody else
	 * implements that: Spring Data by a class of its own, MyBatis by a generated one.
	 */
	private static Class<?> namingClass(MergedAnnotation<DistributedLock> annotation, Method method,
			Class<?> targetClass) {
		Class<?> declaring = LockAnnotations.declaringClass(annotation, method);
		boolean written = !targetClass.isInterface() && !Proxy.isProxyClass(targetClass) && !targetClass.isHidden();
		return (written && declaring.isAssignableFrom(targetClass)) ? targetClass : declaring;
	}

	private LockTemplate with(LockTemplate template, MergedAnnotation<DistributedLock> annotation, String attribute,
			String location, BiFunction<LockTemplate, Duration, LockTemplate> setter) {
		String text = resolve(annotation, attribute, location);
		if (!StringUtils.hasText(text)) {
			return template;
		}
		refuseSmallNumber(attribute, text.strip(), location);
		try {
			return setter.apply(template, DurationFormatterUtils.detectAndParse(text.strip()));
		}
		catch (IllegalArgumentException ex) {
			throw new LockConfigurationException(
					"The " + attribute + " \"" + text + "\" of @DistributedLock on " + location + " is not usable: "
							+ ex.getMessage() + ".",
					"Write a duration such as \"500ms\", \"2s\" or \"PT2S\", or correct 'holdfast.locks' if that "
							+ "overrides times of this lock.",
					ex);
		}
	}

	/**
	 * A small number is more likely to count seconds, but without a unit it does not.
	 */
	private static void refuseSmallNumber(String attribute, String text, String location) {
		if (text.matches("0*[1-9]\\d?")) {
			throw new LockConfigurationException(
					"The " + attribute + " \"" + text + "\" of @DistributedLock on " + location + " means " + text
							+ " milliseconds: a number without a unit counts those.",
					"Write \"" + text + "s\", or \"" + text + "ms\" if that is meant.");
		}
	}

	/**
	 * Some resolvers leave a placeholder as it is that has no value.
	 */
	private String resolve(MergedAnnotation<DistributedLock> annotation, String attribute, String location) {
		String text = annotation.getString(attribute);
		String resolved;
		try {
			resolved = this.beanFactory.resolveEmbeddedValue(text);
		}
		catch (IllegalArgumentException ex) {
			throw unresolved(text, attribute, location, ex);
		}
		if (resolved != null && resolved.contains("${")) {
			throw unresolved(text, attribute, location, null);
		}
		return (resolved != null) ? resolved : "";
	}

	private static LockConfigurationException unresolved(String text, String attribute, String location,
			@Nullable Throwable cause) {
		return new LockConfigurationException(
				"The " + attribute + " \"" + text + "\" of @DistributedLock on " + location
						+ " has a placeholder without a value.",
				"Set the property, or give it a default: \"${name:default}\".", cause);
	}

	private LockTemplate withPropagation(LockTemplate template, Method method, Class<?> targetClass) {
		TransactionAttributeSource source = this.transactionAttributes.get();
		TransactionAttribute attribute = (source != null) ? source.getTransactionAttribute(method, targetClass) : null;
		if (attribute == null) {
			return template.withPropagation(null);
		}
		return template.withPropagation(Arrays.stream(Propagation.values())
			.filter((propagation) -> propagation.value() == attribute.getPropagationBehavior())
			.findFirst()
			.orElse(null), () -> this.transactionManagers.find(attribute, targetClass));
	}

}
