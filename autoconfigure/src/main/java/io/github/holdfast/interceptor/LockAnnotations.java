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
 * a method of an interface. The class of the method need not implement that interface; a
 * subclass may do so with the method that it inherits.
 */
final class LockAnnotations {

	private LockAnnotations() {
	}

	static boolean isPresent(Method method, Class<?> targetClass) {
		return declared(method, targetClass)
			.anyMatch((declared) -> hierarchy(declared).isPresent(DistributedLock.class));
	}

	/**
	 * Finds the annotation of a method.
	 * @param method a method of the class or of an interface
	 * @param targetClass the class of the bean
	 * @return the nearest annotation, or a missing one
	 */
	static MergedAnnotation<DistributedLock> find(Method method, Class<?> targetClass) {
		return declared(method, targetClass).map((declared) -> hierarchy(declared).get(DistributedLock.class))
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

	private static Stream<Method> declared(Method method, Class<?> targetClass) {
		Method specific = AopUtils.getMostSpecificMethod(method, targetClass);
		return Stream.concat(Stream.of(specific), implemented(specific, targetClass));
	}

	/**
	 * Finds the interface methods that a bean implements with a method.
	 * @param method the method of the class
	 * @param targetClass the class of the bean
	 * @return the methods of those interfaces that the class of the method does not
	 * implement
	 */
	private static Stream<Method> implemented(Method method, Class<?> targetClass) {
		Class<?> declaringClass = method.getDeclaringClass();
		return (declaringClass == targetClass) ? Stream.empty() : interfaceMethods(method, targetClass)
			.filter((declared) -> !declared.getDeclaringClass().isAssignableFrom(declaringClass));
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

	private static MergedAnnotations hierarchy(Method method) {
		return MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY);
	}

}
