package io.github.holdfast.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.DirectoryStream;
import java.util.Arrays;
import java.util.Enumeration;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.Spliterator;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.BaseStream;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.core.LockConfigurationException;

/**
 * What a method must be like to be locked, so that the lock cannot be missed silently.
 */
final class LockMethodRules {

	/** What these promise is done after the method, and so after its lock. */
	private static final Set<Class<?>> LATER = Set.of(Future.class, CompletionStage.class, Flow.Publisher.class,
			Callable.class, BaseStream.class, Iterator.class, Spliterator.class, Enumeration.class,
			DirectoryStream.class);

	private static final Set<String> LATER_OF_LIBRARIES = Set.of("kotlin.sequences.Sequence",
			"org.apache.ibatis.cursor.Cursor", "org.hibernate.ScrollableResults",
			"org.springframework.web.context.request.async.WebAsyncTask",
			"org.springframework.web.context.request.async.DeferredResult",
			"org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
			"org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody");

	private static final String ASYNC = "org.springframework.scheduling.annotation.Async";

	private static final String HTTP_ENTITY = "org.springframework.http.HttpEntity";

	/** What is in them counts. */
	private static final Set<String> WRAPPERS = Set.of("java.util.Optional", HTTP_ENTITY);

	private static final Set<String> REACTIVE_TYPES = Set.of("org.reactivestreams.Publisher",
			"io.reactivex.Completable", "io.reactivex.Maybe", "io.reactivex.Observable", "io.reactivex.Single",
			"io.reactivex.rxjava3.core.Completable", "io.reactivex.rxjava3.core.Maybe",
			"io.reactivex.rxjava3.core.Observable", "io.reactivex.rxjava3.core.Single", "io.smallrye.mutiny.Uni",
			"io.vavr.concurrent.Future", "io.vertx.core.Future", "kotlin.coroutines.Continuation",
			"kotlinx.coroutines.Job", "kotlinx.coroutines.flow.Flow");

	private LockMethodRules() {
	}

	static void check(LockOperation operation, Class<?> targetClass) {
		Method method = operation.method();
		String where = "@DistributedLock is present on " + operation.location() + ", ";
		if (Modifier.isPrivate(method.getModifiers()) || Modifier.isStatic(method.getModifiers())) {
			throw new LockConfigurationException(
					where + "which is "
							+ Modifier.toString(method.getModifiers() & (Modifier.PRIVATE | Modifier.STATIC))
							+ " and so cannot be called through a proxy: it would run without a lock.",
					"Make the method public and not static.");
		}
		Class<?> later = later(ResolvableType.forMethodReturnType(method, targetClass));
		if (later != null || Arrays.stream(method.getParameterTypes()).anyMatch(LockMethodRules::isReactive)) {
			throw new LockConfigurationException(
					where + "which returns a " + ((later != null) ? later : method.getReturnType()).getSimpleName()
							+ " before its work is done: the lock would be released too early.",
					"Lock a blocking method that does the work and returns its result, as a list instead of a stream or an "
							+ "iterator, and call it from "
							+ (MergedAnnotations.from(method).isPresent(ASYNC)
									? "the @Async method: put @DistributedLock on a method of another bean."
									: "what runs later."));
		}
		if (operation.onBusy() == DistributedLock.OnBusy.SKIP) {
			checkSkip(operation, where);
		}
	}

	private static void checkSkip(LockOperation operation, String where) {
		Class<?> type = operation.method().getReturnType();
		if (type.isPrimitive() && type != void.class) {
			throw new LockConfigurationException(
					where + "with onBusy = SKIP, but a skipped call has no value of type " + type + " to return.",
					"Return " + ClassUtils.resolvePrimitiveIfNecessary(type).getSimpleName()
							+ " (null when skipped) or Optional, or use a fallback.");
		}
		if (operation.fallback() != null) {
			throw new LockConfigurationException(where + "with onBusy = SKIP and a fallback, of which only one can be.",
					"Remove one of the two.");
		}
	}

	/**
	 * The type of what is done later, as a method returns it or wraps it.
	 */
	private static @Nullable Class<?> later(ResolvableType returned) {
		Class<?> type = returned.toClass();
		if (LATER.stream().anyMatch((later) -> later.isAssignableFrom(type)) || isOneOf(LATER_OF_LIBRARIES, type)
				|| isReactive(type)) {
			return type;
		}
		return (isOneOf(WRAPPERS, type) && returned.hasGenerics()) ? later(returned.getGeneric()) : null;
	}

	/**
	 * Whether a method may return what is done later, although it does not declare it: as
	 * a controller's method of type {@code Object} or {@code ResponseEntity<?>}.
	 */
	static boolean mayReturnLater(Method method, Class<?> targetClass) {
		return mayBeLater(ResolvableType.forMethodReturnType(method, targetClass));
	}

	private static boolean mayBeLater(ResolvableType returned) {
		Class<?> type = returned.toClass();
		return type == Object.class || type == Iterable.class
				|| (isOneOf(WRAPPERS, type) && mayBeLater(returned.getGeneric()));
	}

	/**
	 * Refuse a result whose work is done after the lock. Most often it has not begun.
	 * @throws IllegalStateException if it is one
	 */
	static void checkResult(@Nullable Object result, String location) {
		Object content = content(result);
		if (content != null && later(ResolvableType.forClass(content.getClass())) != null) {
			throw new IllegalStateException("The locked method " + location + " has returned a "
					+ ClassUtils.getShortName(content.getClass())
					+ " before its work is done: it would go on without the lock. Lock a blocking method that does "
					+ "the work and returns its result, and call it from what runs later");
		}
	}

	private static @Nullable Object content(@Nullable Object result) {
		if (result instanceof Optional<?> optional) {
			return content(optional.orElse(null));
		}
		return (result != null && isOneOf(Set.of(HTTP_ENTITY), result.getClass()))
				? content(ReflectionUtils.invokeMethod(ClassUtils.getMethod(result.getClass(), "getBody"), result))
				: result;
	}

	private static boolean isReactive(Class<?> type) {
		return isOneOf(REACTIVE_TYPES, type);
	}

	private static boolean isOneOf(Set<String> names, Class<?> type) {
		return Stream
			.concat(Stream.<Class<?>>iterate(type, Objects::nonNull, Class::getSuperclass),
					ClassUtils.getAllInterfacesForClassAsSet(type).stream())
			.anyMatch((parent) -> names.contains(parent.getName()));
	}

	/**
	 * Find the fallback of a method: the same parameters, optionally followed by the
	 * exception.
	 */
	static @Nullable Method fallback(String name, Method method, Class<?> targetClass, String location) {
		if (name.isEmpty()) {
			return null;
		}
		List<Method> candidates = Arrays.stream(ReflectionUtils.getUniqueDeclaredMethods(targetClass))
			.filter((candidate) -> candidate.getName().equals(name) && fits(candidate, method))
			.toList();
		if (candidates.size() != 1) {
			throw new LockConfigurationException(
					"The fallback '" + name + "' of @DistributedLock on " + location + " is "
							+ (candidates.isEmpty() ? "not there." : "there " + candidates.size() + " times."),
					"Declare exactly one method of this name in " + ClassUtils.getShortName(targetClass)
							+ ", neither private, static nor final, with the same parameters, optionally followed by a "
							+ "LockNotAcquiredException, and with a return type that fits.");
		}
		ReflectionUtils.makeAccessible(candidates.get(0));
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
