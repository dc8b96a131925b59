package io.github.holdfast.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;

import io.github.holdfast.DistributedLock;

/**
 * Finds the annotation of a method: on the method itself, on one that it overrides, or on
 * a method of an interface. The class of the method need not implement that interface; a
 * subclass may do so with what it inherits.
 */
public final class LockAnnotations {

	private LockAnnotations() {
	}

	static boolean isPresent(Method method, @Nullable Class<?> targetClass) {
		return Stream.concat(Stream.of(method), implemented(method, targetClass))
			.anyMatch((declared) -> hierarchy(declared).isPresent(DistributedLock.class));
	}

	/**
	 * The annotation of a method, the nearest one if there are several.
	 * @param method the method as the class has it
	 * @param targetClass the class of the bean
	 */
	public static MergedAnnotation<DistributedLock> find(Method method, Class<?> targetClass) {
		return isPresent(method, targetClass) ? findAll(method, targetClass).get(0) : MergedAnnotation.missing();
	}

	/**
	 * Those annotations of a method that are not overridden by another one.
	 */
	static List<MergedAnnotation<DistributedLock>> findAll(Method method, Class<?> targetClass) {
		List<MergedAnnotation<DistributedLock>> all = Stream.concat(Stream.of(method), implemented(method, targetClass))
			.flatMap((declared) -> hierarchy(declared).stream(DistributedLock.class))
			.toList();
		return all.stream()
			.filter((annotation) -> all.stream().noneMatch((other) -> overrides(other, annotation, method)))
			.toList();
	}

	private static boolean overrides(MergedAnnotation<?> annotation, MergedAnnotation<?> other, Method method) {
		Class<?> type = declaringClass(annotation, method);
		Class<?> otherType = declaringClass(other, method);
		return type != otherType && (type == method.getDeclaringClass()
				|| (otherType != method.getDeclaringClass() && otherType.isAssignableFrom(type)));
	}

	static Class<?> declaringClass(MergedAnnotation<?> annotation, Method method) {
		return declaringMethod(annotation, method).getDeclaringClass();
	}

	static Method declaringMethod(MergedAnnotation<?> annotation, Method method) {
		return (annotation.getSource() instanceof Method source) ? source : method;
	}

	private static MergedAnnotations hierarchy(Method method) {
		return MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY);
	}

	/**
	 * The methods of interfaces that a method implements for a class, although its own
	 * class does not know of them.
	 */
	public static Stream<Method> implemented(Method method, @Nullable Class<?> targetClass) {
		if (targetClass == null || targetClass == method.getDeclaringClass()
				|| !Modifier.isPublic(method.getModifiers()) || Modifier.isStatic(method.getModifiers())) {
			return Stream.empty();
		}
		Predicate<Class<?>> unknown = (type) -> !type.isAssignableFrom(method.getDeclaringClass());
		return ClassUtils.getAllInterfacesForClassAsSet(targetClass)
			.stream()
			.filter(unknown)
			.flatMap((type) -> Arrays.stream(type.getMethods()))
			.filter((declared) -> isImplemented(declared, method, targetClass));
	}

	private static boolean isImplemented(Method declared, Method method, Class<?> targetClass) {
		if (!declared.getName().equals(method.getName()) || declared.getParameterCount() != method.getParameterCount()
				|| declared.equals(method)) {
			return false;
		}
		for (int i = 0; i < method.getParameterCount(); i++) {
			if (parameter(declared, i, targetClass) != parameter(method, i, targetClass)) {
				return false;
			}
		}
		return true;
	}

	private static Class<?> parameter(Method method, int index, Class<?> targetClass) {
		return ResolvableType.forMethodParameter(method, index, targetClass).toClass();
	}

}
