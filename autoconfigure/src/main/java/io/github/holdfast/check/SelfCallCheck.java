package io.github.holdfast.check;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.asm.Type;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.core.LockConfigurationException;
import io.github.holdfast.interceptor.LockAnnotations;
import io.github.holdfast.interceptor.LockOperationSource;

/**
 * Refuses classes whose methods call a locked method of their own object, past the proxy
 * that would take the lock. Each class is read once.
 */
final class SelfCallCheck {

	private static final Logger logger = LoggerFactory.getLogger(SelfCallCheck.class);

	/** A key that is the same in each call. */
	private static final Pattern LITERAL = Pattern.compile("\\s*'[^']*'\\s*");

	private final LockOperationSource source;

	private final Supplier<OnSelfCall> policy;

	private final Set<Class<?>> checked = ConcurrentHashMap.newKeySet();

	SelfCallCheck(LockOperationSource source, Supplier<OnSelfCall> policy) {
		this.source = source;
		this.policy = policy;
	}

	/**
	 * Check the class of a bean that has locked methods.
	 * @throws LockConfigurationException if one of them is called on the own object
	 */
	void check(Class<?> beanClass, String beanName) {
		Class<?> targetClass = ClassUtils.getUserClass(beanClass);
		if (this.checked.contains(targetClass)) {
			return;
		}
		List<SelfCall> all = SelfCalls.of(targetClass);
		List<String> unlocked = all.stream()
			.filter((call) -> isMade(call, targetClass, all))
			.map((call) -> unlocked(call, targetClass))
			.filter(Objects::nonNull)
			.distinct()
			.toList();
		if (!unlocked.isEmpty()) {
			tell(unlocked, beanName);
		}
		this.checked.add(targetClass);
	}

	private void tell(List<String> unlocked, String beanName) {
		String description = "Locked methods of bean '" + beanName
				+ "' are called on the object itself, past the proxy " + "that takes the lock: "
				+ unlocked.stream().limit(10).collect(Collectors.joining("; ", "", (unlocked.size() > 10) ? "; …" : ""))
				+ ".";
		if (this.policy.get() == OnSelfCall.WARN) {
			logger.warn("{} They run without a lock, unless the caller holds it", description);
			return;
		}
		throw new LockConfigurationException(description,
				"Move the locked method to a bean of its own, or call it on a reference of the bean to itself "
						+ "(@Lazy in the constructor). Where the lock is held already, put the body into a private method "
						+ "without the annotation and call that. If none of this can be done, set "
						+ "'holdfast.on-self-call' to 'warn'.");
	}

	/**
	 * Whether a calling method can run for an object of this class: it is not overridden,
	 * or called as the version of a superclass.
	 */
	private static boolean isMade(SelfCall call, Class<?> targetClass, List<SelfCall> all) {
		SelfCall.Caller caller = call.caller();
		if (call.isOfOverridden()) {
			return false;
		}
		if (!caller.ofObject() || !caller.overridable()) {
			return true;
		}
		Method current = find(targetClass, caller.name(), caller.descriptor());
		return current == null || Type.getInternalName(current.getDeclaringClass()).equals(caller.type())
				|| all.stream()
					.anyMatch((other) -> other.toSuper() && other.name().equals(caller.name())
							&& other.descriptor().equals(caller.descriptor()));
	}

	/**
	 * The call as a text, if it is one that misses a lock.
	 */
	private @Nullable String unlocked(SelfCall call, Class<?> targetClass) {
		Class<?> from = call.toSuper() ? ClassUtils.resolveClassName(Type.getObjectType(call.owner()).getClassName(),
				targetClass.getClassLoader()) : targetClass;
		Method callee = find(from, call.name(), call.descriptor());
		if (callee == null || !this.source.isLocked(callee, from) || holdsLockOf(call, callee, targetClass)) {
			return null;
		}
		return call.place() + " calls " + LockOperationSource.location(callee, callee.getDeclaringClass());
	}

	/**
	 * Whether the caller has taken the same lock: one whose key does not depend on
	 * anything.
	 */
	private boolean holdsLockOf(SelfCall call, Method callee, Class<?> targetClass) {
		Method caller = call.caller().ofObject() ? find(targetClass, call.caller().name(), call.caller().descriptor())
				: null;
		if (caller == null || !this.source.isLocked(caller, targetClass)) {
			return false;
		}
		MergedAnnotation<DistributedLock> outer = LockAnnotations.find(caller, targetClass);
		MergedAnnotation<DistributedLock> inner = LockAnnotations.find(callee, targetClass);
		return outer.isPresent() && inner.isPresent() && LITERAL.matcher(outer.getString("key")).matches()
				&& outer.getString("key").strip().equals(inner.getString("key").strip())
				&& outer.getString("condition").isEmpty() && outer.getValue("mode").equals(inner.getValue("mode"));
	}

	/**
	 * The method that a call on an object of a class reaches.
	 * @param descriptor its descriptor, or empty for the only one of its name
	 */
	private static @Nullable Method find(Class<?> type, String name, String descriptor) {
		Stream<Class<?>> superclasses = Stream.iterate(type, Objects::nonNull, Class::getSuperclass);
		List<Method> found = Stream.concat(superclasses, ClassUtils.getAllInterfacesForClassAsSet(type).stream())
			.flatMap((parent) -> Arrays.stream(ReflectionUtils.getDeclaredMethods(parent)))
			.filter((method) -> method.getName().equals(name)
					&& (descriptor.isEmpty() || Type.getMethodDescriptor(method).equals(descriptor)))
			.toList();
		return found.isEmpty() ? null : found.get(0);
	}

}
