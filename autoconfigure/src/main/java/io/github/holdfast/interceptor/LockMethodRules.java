package io.github.holdfast.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.stream.BaseStream;
import java.util.stream.Stream;

import io.github.holdfast.DistributedLock.OnBusy;
import io.github.holdfast.LockConfigurationException;
import io.github.holdfast.LockNotAcquiredException;
import org.jspecify.annotations.Nullable;

import org.springframework.core.KotlinDetector;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * What a method must be like to be locked, so that no call misses the lock silently.
 */
final class LockMethodRules {

	/** A method that returns one of these returns before its work is done. */
	private static final List<Class<?>> LATER = Stream
		.concat(Stream.of(Future.class, CompletionStage.class, Callable.class, BaseStream.class, Iterator.class),
				present("org.springframework.web.context.request.async.WebAsyncTask",
						"org.springframework.web.context.request.async.DeferredResult",
						"org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
						"org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody",
						"org.apache.ibatis.cursor.Cursor"))
		.toList();

	/** The content of these counts. */
	private static final List<Class<?>> WRAPPERS = Stream
		.concat(Stream.of(Optional.class), present("org.springframework.http.HttpEntity"))
		.toList();

	private LockMethodRules() {
	}

	private static Stream<Class<?>> present(String... names) {
		ClassLoader loader = LockMethodRules.class.getClassLoader();
		return Arrays.stream(names)
			.filter((name) -> ClassUtils.isPresent(name, loader))
			.map((name) -> ClassUtils.resolveClassName(name, loader));
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
		if (hidden != 0) {
			throw new LockConfigurationException(
					where + "which is " + Modifier.toString(hidden)
							+ " and so cannot be called through a proxy: it would run without a lock.",
					"Make the method public and not static.");
		}
		Class<?> later = KotlinDetector.isSuspendingFunction(method) ? method.getReturnType()
				: later(ResolvableType.forMethodReturnType(method, targetClass));
		if (later != null) {
			throw new LockConfigurationException(
					where + "which returns a " + later.getSimpleName()
							+ " before its work is done: the lock would be released too early.",
					"Lock a blocking method that does the work and returns its result, as a list instead of a stream or an "
							+ "iterator, and call it from " + caller(method));
		}
		Class<?> type = method.getReturnType();
		if (operation.onBusy() == OnBusy.SKIP && type.isPrimitive() && type != void.class) {
			throw new LockConfigurationException(
					where + "with onBusy = SKIP, but a skipped call has no value of type " + type + " to return.",
					"Return " + ClassUtils.resolvePrimitiveIfNecessary(type).getSimpleName()
							+ " (null when skipped) or Optional, or use a fallback method.");
		}
		if (operation.onBusy() == OnBusy.SKIP && operation.fallback() != null) {
			throw new LockConfigurationException(where + "with onBusy = SKIP and a fallback method.",
					"Remove one of the two.");
		}
	}

	private static String caller(Method method) {
		return MergedAnnotations.from(method).isPresent("org.springframework.scheduling.annotation.Async")
				? "the @Async method: put @DistributedLock on a method of another bean." : "the code that runs later.";
	}

	private static @Nullable Class<?> later(ResolvableType returned) {
		Class<?> type = returned.toClass();
		if (isOneOf(LATER, type) || ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null) {
			return type;
		}
		return (isOneOf(WRAPPERS, type) && returned.hasGenerics()) ? later(returned.getGeneric()) : null;
	}

	private static boolean isOneOf(List<Class<?>> types, Class<?> type) {
		return types.stream().anyMatch((one) -> one.isAssignableFrom(type));
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
		if (candidates.size() != 1) {
			throw new LockConfigurationException(
					"The fallback method '" + name + "' of @DistributedLock on " + location + " "
							+ (candidates.isEmpty() ? "does not exist." : "exists " + candidates.size() + " times."),
					"Declare exactly one method of this name in " + ClassUtils.getShortName(targetClass)
							+ ", neither private, static nor final, with the same parameters, optionally followed by a "
							+ "LockNotAcquiredException, and with a return type that fits.");
		}
		return candidates.get(0);
	}

	private static boolean fits(Method candidate, Method method) {
		Class<?>[] parameters = method.getParameterTypes();
		Class<?>[] actual = candidate.getParameterTypes();
		boolean withException = actual.length == parameters.length + 1
				&& actual[parameters.length].isAssignableFrom(LockNotAcquiredException.class);
		boolean sameParameters = (withException || actual.length == parameters.length)
				&& Arrays.equals(parameters, Arrays.copyOf(actual, parameters.length));
		boolean returnFits = method.getReturnType() == void.class
				|| ClassUtils.isAssignable(method.getReturnType(), candidate.getReturnType());
		boolean callable = (candidate.getModifiers() & (Modifier.PRIVATE | Modifier.STATIC | Modifier.FINAL)) == 0;
		return sameParameters && returnFits && callable;
	}

}
