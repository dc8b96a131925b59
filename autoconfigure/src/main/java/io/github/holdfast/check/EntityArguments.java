package io.github.holdfast.check;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.MergedAnnotations;

/**
 * Finds entities without a {@code @Version} among the arguments of locked methods: such
 * an entity was read before the lock, and saving it overwrites later changes. JPA need
 * not be on the class path.
 */
abstract class EntityArguments {

	static boolean isTakenBy(Method method, Class<?> targetClass) {
		return IntStream.range(0, method.getParameterCount())
			.mapToObj((i) -> ResolvableType.forMethodParameter(method, i, targetClass))
			.flatMap((type) -> Stream.of(type, type.getComponentType(), type.getGeneric()))
			.map(ResolvableType::toClass)
			.anyMatch((type) -> has(type, "jakarta.persistence.Entity") && !isVersioned(type));
	}

	private static boolean isVersioned(Class<?> entity) {
		return Stream.<Class<?>>iterate(entity, Objects::nonNull, Class::getSuperclass)
			.flatMap((type) -> Stream.of(type.getDeclaredFields(), type.getDeclaredMethods()))
			.flatMap(Stream::of)
			.anyMatch((member) -> has(member, "jakarta.persistence.Version"))
				|| has(entity, "org.hibernate.annotations.Immutable");
	}

	private static boolean has(AnnotatedElement element, String annotation) {
		return MergedAnnotations.from(element).isPresent(annotation);
	}

}
