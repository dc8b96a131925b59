package io.github.holdfast.interceptor;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.core.MethodClassKey;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionInterceptor;
import org.springframework.util.ClassUtils;

import io.github.holdfast.LockTemplate;

/**
 * Knows of which locked methods the transaction is all that is inside of their lock, as
 * far as their beans have been made. Each call asks anew: what holds for one bean of a
 * class may not hold for the next.
 */
final class BodyTransactions {

	/** With these, a method begins a transaction unless it joins one. */
	private static final Set<Integer> BEGINNING = Set.of(TransactionDefinition.PROPAGATION_REQUIRED,
			TransactionDefinition.PROPAGATION_REQUIRES_NEW, TransactionDefinition.PROPAGATION_NESTED);

	/** Empty if there is more inside. */
	private final Map<MethodClassKey, Optional<Body>> bodies = new ConcurrentHashMap<>();

	/**
	 * Note a bean. What does not hold for all beans of a class does not count.
	 * @param operation one of its locked methods
	 * @param targetClass its class
	 * @param advisors its advisors, outermost first
	 */
	void note(LockOperation operation, Class<?> targetClass, List<Advisor> advisors) {
		Optional<Body> body = name(advisors, operation.method(), targetClass)
			.map((name) -> new Body(name, operation.template().withTransactionName(name)));
		this.bodies.merge(new MethodClassKey(operation.method(), targetClass), body,
				(known, other) -> known.map(Body::name).equals(other.map(Body::name)) ? known : Optional.empty());
	}

	/**
	 * The template of a call, which knows the transaction of the method if that is all.
	 */
	LockTemplate template(LockOperation operation, Class<?> targetClass) {
		Optional<Body> body = this.bodies.get(new MethodClassKey(operation.method(), targetClass));
		return (body != null && body.isPresent()) ? body.get().template() : operation.template();
	}

	/**
	 * The transaction of a method, if it begins right under the lock, so that nothing
	 * else is inside of it.
	 * @return its name as Spring gives it
	 */
	private static Optional<String> name(List<Advisor> advisors, Method method, Class<?> targetClass) {
		int next = indexOfLock(advisors) + 1;
		if (next == 0 || next == advisors.size()
				|| advisors.get(next).getAdvice().getClass() != TransactionInterceptor.class) {
			return Optional.empty();
		}
		TransactionAttribute attribute = transactionAttribute(advisors.get(next), method, targetClass);
		if (attribute == null || !BEGINNING.contains(attribute.getPropagationBehavior())) {
			return Optional.empty();
		}
		return Optional.of((attribute.getName() != null) ? attribute.getName()
				: ClassUtils.getQualifiedMethodName(method, targetClass));
	}

	static @Nullable TransactionAttribute transactionAttribute(Advisor advisor, Method method, Class<?> targetClass) {
		if (!(advisor.getAdvice() instanceof TransactionInterceptor transactions)) {
			return null;
		}
		TransactionAttributeSource attributes = transactions.getTransactionAttributeSource();
		return (attributes != null) ? attributes.getTransactionAttribute(method, targetClass) : null;
	}

	static int indexOfLock(List<Advisor> advisors) {
		for (int i = 0; i < advisors.size(); i++) {
			if (advisors.get(i).getAdvice() instanceof LockInterceptor) {
				return i;
			}
		}
		return -1;
	}

	/**
	 * A transaction that is all that is inside of a lock.
	 *
	 * @param name its name
	 * @param template takes the lock
	 */
	private record Body(String name, LockTemplate template) {

	}

}
