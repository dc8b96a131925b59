package io.github.holdfast.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

import io.github.holdfast.DistributedLock.OnBusy;
import io.github.holdfast.LockConfigurationException;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.interceptor.LockOperationSource.LockOperation;
import org.jspecify.annotations.Nullable;

import org.springframework.core.KotlinDetector;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * What a method must be like to be locked, so that no call misses the lock silently.
 */
final class LockMethodRules {

	/**
	 * A method that returns one of these, or a reactive type, returns before its work is
	 * done.
	 */
	private static final List<Class<?>> LATER = Stream
		.of("java.util.concurrent.Future", "java.util.concurrent.CompletionStage", "java.util.concurrent.Callable",
				"java.util.concurrent.Flow$Publisher", "java.util.stream.BaseStream", "java.util.Iterator",
				"kotlin.sequences.Sequence", "kotlinx.coroutines.Job", "kotlinx.coroutines.flow.Flow",
				"org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody")
		.filter((name) -> ClassUtils.isPresent(name, null))
		.<Class<?>>map((name) -> ClassUtils.resolveClassName(name, null))
		.toList();

	private LockMethodRules() {
	}

	/**
	 * Checks a locked method.
	 * @param operation the operation of the method
	 * @param targetClass the class of the bean
	 * @throws LockConfigurationException if the method cannot be locked
	 */
	static void check(LockOperation operation, Class<?> targetClass) {
		Method method = operation.method();
		String where = "@DistributedLock is present on " + operation.location() + ", ";
		int hidden = method.getModifiers() & (Modifier.PRIVATE | Modifier.STATIC);
		refuseIf(hidden != 0,
				where + "which is " + Modifier.toString(hidden)
						+ " and so cannot be called through a proxy: it would run without a lock.",
				"Make the method public and not static.");
		Class<?> type = ResolvableType.forMethodReturnType(method, targetClass).toClass();
		refuseIf(returnsLater(type) || KotlinDetector.isSuspendingFunction(method),
				where + "which returns a " + type.getSimpleName()
						+ " before its work is done: the lock would be released too early.",
				"Lock a blocking method that does the work and returns its result, for example a list instead of a stream or an "
						+ "iterator, and call it from the code that runs later, such as the @Async method of another bean.");
		boolean skips = operation.onBusy() == OnBusy.SKIP;
		refuseIf(skips && type.isPrimitive() && type != void.class,
				where + "with onBusy = SKIP, but a skipped call has no value of type " + type + " to return.",
				"Return " + ClassUtils.resolvePrimitiveIfNecessary(type).getSimpleName()
						+ " (null when skipped) or Optional, or use a fallback method.");
		refuseIf(skips && operation.fallback() != null, where + "with onBusy = SKIP and a fallback method.",
				"Remove one of the two.");
	}

	static void refuseIf(boolean wrong, String description, String action) {
		if (wrong) {
			throw new LockConfigurationException(description, action);
		}
	}

	private static boolean returnsLater(Class<?> type) {
		return LATER.stream().anyMatch((later) -> later.isAssignableFrom(type))
				|| ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null;
	}

	/**
	 * Finds the fallback method of a locked method: the same parameters, optionally
	 * followed by the exception.
	 * @param name the name, empty for none
	 * @param method the locked method
	 * @param targetClass the class of the bean
	 * @param location the locked method, for messages
	 * @return the fallback method, or {@code null} for none
	 */
	static @Nullable Method fallback(String name, Method method, Class<?> targetClass, String location) {
		if (name.isEmpty()) {
			return null;
		}
		List<Method> candidates = Arrays.stream(ReflectionUtils.getUniqueDeclaredMethods(targetClass))
			.filter((candidate) -> candidate.getName().equals(name) && !candidate.isBridge() && fits(candidate, method))
			.toList();
		refuseIf(candidates.size() != 1,
				"The fallback method '" + name + "' of @DistributedLock on " + location + " "
						+ (candidates.isEmpty() ? "does not exist." : "exists " + candidates.size() + " times."),
				"Declare exactly one method of this name in " + ClassUtils.getShortName(targetClass)
						+ ", neither private, static nor final, with the same parameters, optionally followed by a "
						+ "LockNotAcquiredException, and with a return type that fits.");
		return candidates.get(0);
	}

	private static boolean fits(Method candidate, Method method) {
		Class<?>[] parameters = method.getParameterTypes();
		Class<?>[] actual = candidate.getParameterTypes();
		boolean withException = actual.length == parameters.length + 1
				&& actual[parameters.length].isAssignableFrom(LockNotAcquiredException.class);
		return (withException || actual.length == parameters.length)
				&& Arrays.equals(parameters, Arrays.copyOf(actual, parameters.length))
				&& (method.getReturnType() == void.class
						|| ClassUtils.isAssignable(method.getReturnType(), candidate.getReturnType()))
				&& (candidate.getModifiers() & (Modifier.PRIVATE | Modifier.STATIC | Modifier.FINAL)) == 0;
	}

}
