package io.github.holdfast.check;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collection;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.MergedAnnotations;

import io.github.holdfast.core.LockConfigurationException;
import io.github.holdfast.interceptor.LockOperation;

/**
 * Finds locked methods that take an entity without a version. JPA need not be there.
 */
final class EntityArgumentCheck {

	private static final Logger logger = LoggerFactory.getLogger(EntityArgumentCheck.class);

	private static final String ENTITY = "jakarta.persistence.Entity";

	/**
	 * With these, Hibernate finds out that others have changed the row, or changes none.
	 */
	private static final Set<String> HARMLESS = Set.of("org.hibernate.annotations.Immutable",
			"org.hibernate.annotations.OptimisticLocking");

	private final Supplier<OnEntityArgument> policy;

	private final Set<Class<?>> checked = ConcurrentHashMap.newKeySet();

	EntityArgumentCheck(Supplier<OnEntityArgument> policy) {
		this.policy = policy;
	}

	/**
	 * Check the locked methods of a bean.
	 * @throws LockConfigurationException if one of them takes such an entity, and that is
	 * not allowed
	 */
	void check(Collection<LockOperation> operations, Class<?> targetClass, String beanName) {
		if (this.checked.contains(targetClass)) {
			return;
		}
		String found = operations.stream()
			.filter((operation) -> takesEntity(operation.method(), targetClass))
			.map(LockOperation::location)
			.sorted()
			.collect(Collectors.joining(", "));
		if (!found.isEmpty()) {
			tell(found, beanName);
		}
		this.checked.add(targetClass);
	}

	private void tell(String methods, String beanName) {
		String description = "Locked methods of bean '" + beanName + "' take entities without a @Version: " + methods
				+ ". One that was read before the lock is as old as that, and saving it overwrites what others have "
				+ "changed since.";
		String remedy = "Pass the id and read the entity under the lock, or give it a @Version.";
		switch (this.policy.get()) {
			case REJECT -> throw new LockConfigurationException(description,
					remedy + " If such methods only read the id of their entities, or save new ones, set "
							+ "'holdfast.jpa.on-entity-argument' to 'warn' or 'allow'.");
			case WARN -> logger.warn(
					"{} {} If they only read the id, or save new ones, set 'holdfast.jpa.on-entity-argument' to 'allow'",
					description, remedy);
			case ALLOW -> {
			}
		}
	}

	private static boolean takesEntity(Method method, Class<?> targetClass) {
		return IntStream.range(0, method.getParameterCount())
			.mapToObj((i) -> ResolvableType.forMethodParameter(method, i, targetClass))
			.flatMap(EntityArgumentCheck::types)
			.anyMatch(EntityArgumentCheck::isEntityWithoutVersion);
	}

	/**
	 * A type and those of its elements.
	 */
	private static Stream<Class<?>> types(ResolvableType type) {
		Stream<ResolvableType> elements = type.isArray() ? Stream.of(type.getComponentType())
				: Arrays.stream(type.getGenerics());
		return Stream.concat(Stream.of(type.toClass()), elements.flatMap(EntityArgumentCheck::types));
	}

	private static boolean isEntityWithoutVersion(Class<?> type) {
		return has(type, ENTITY) && lineage(type).noneMatch(EntityArgumentCheck::isHarmless);
	}

	private static boolean isHarmless(Class<?> type) {
		return HARMLESS.stream().anyMatch((name) -> has(type, name)) || Stream
			.<AnnotatedElement>concat(Arrays.stream(type.getDeclaredFields()), Arrays.stream(type.getDeclaredMethods()))
			.anyMatch((member) -> has(member, "jakarta.persistence.Version"));
	}

	private static Stream<Class<?>> lineage(Class<?> type) {
		return Stream.iterate(type, Objects::nonNull, Class::getSuperclass);
	}

	private static boolean has(AnnotatedElement element, String annotation) {
		return MergedAnnotations.from(element).isPresent(annotation);
	}

}
