package io.github.holdfast.interceptor;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.stream.Stream;

import io.github.holdfast.DistributedLock;

import org.springframework.aop.support.AopUtils;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;

/**
 * Finds the annotation of a method: on the method itself, on one that it overrides, or on
 * a method of an interface.
 */
final class LockAnnotations {

	private LockAnnotations() {
	}

	static boolean isPresent(Method method, Class<?> targetClass) {
		return declared(method, targetClass)
			.anyMatch((declared) -> MergedAnnotations.from(declared, SearchStrategy.TYPE_HIERARCHY)
				.isPresent(DistributedLock.class));
	}

	/**
	 * Finds the annotation of a method.
	 * @param method a method of the class or of an interface
	 * @param targetClass the class of the bean
	 * @return the nearest annotation, or a missing one
	 */
	static MergedAnnotation<DistributedLock> find(Method method, Class<?> targetClass) {
		return declared(method, targetClass)
			.map((declared) -> MergedAnnotations.from(declared, SearchStrategy.TYPE_HIERARCHY)
				.get(DistributedLock.class))
			.filter(MergedAnnotation::isPresent)
			.findFirst()
			.orElseGet(MergedAnnotation::missing);
	}

	/**
	 * Finds the method that has the annotation.
	 * @param annotation the annotation
	 * @param method the annotated method of the class
	 * @return the method itself, or the one that it overrides or implements
	 */
	static Method annotatedMethod(MergedAnnotation<DistributedLock> annotation, Method method) {
		return (annotation.getSource() instanceof Method source) ? source : method;
	}

	/**
	 * The class of the method need not implement the interface; a subclass may do so with
	 * the method that it inherits.
	 */
	private static Stream<Method> declared(Method method, Class<?> targetClass) {
		Method specific = AopUtils.getMostSpecificMethod(method, targetClass);
		return Stream.concat(Stream.of(specific), (specific.getDeclaringClass() == targetClass) ? Stream.empty()
				: interfaceMethods(specific, targetClass));
	}

	/**
	 * Finds all interface methods by which a method can be called.
	 * @param method the method of the class
	 * @param targetClass the class of the bean
	 * @return the interface methods; bridge methods lead to the method that they stand
	 * for
	 */
	static Stream<Method> interfaceMethods(Method method, Class<?> targetClass) {
		return ClassUtils.getAllInterfacesForClassAsSet(targetClass)
			.stream()
			.flatMap((type) -> Arrays.stream(type.getMethods()))
			.filter((declared) -> declared.getName().equals(method.getName())
					&& declared.getParameterCount() == method.getParameterCount()
					&& AopUtils.getMostSpecificMethod(declared, targetClass).equals(method));
	}

}
