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
import io.github.holdfast.core.BodyTransaction;
import io.github.holdfast.core.TemplateAccess;

/**
 * Knows of which locked methods the transaction is all that is inside of their lock, as
 * far as their beans have been made. Each call asks anew: what holds for one bean of a
 * class may not hold for the next.
 */
public final class BodyTransactions {

	/** With these, a method begins a transaction unless it joins one. */
	private static final Set<Integer> BEGINNING = Set.of(TransactionDefinition.PROPAGATION_REQUIRED,
			TransactionDefinition.PROPAGATION_REQUIRES_NEW, TransactionDefinition.PROPAGATION_NESTED);

	/** Empty if there is more inside. */
	private final Map<MethodClassKey, Optional<Body>> bodies = new ConcurrentHashMap<>();

	/**
	 * Note a bean, and let the transactions of its locked methods claim their locks if
	 * they are all that is inside. What does not hold for all beans of a class does not
	 * count.
	 * @param operation one of its locked methods
	 * @param targetClass its class
	 * @param bean the bean
	 * @param advisors its advisors, outermost first
	 */
	public void note(LockOperation operation, Class<?> targetClass, Object bean, List<Advisor> advisors) {
		Optional<Body> body = attribute(advisors, operation.method(), targetClass)
			.map((attribute) -> body(operation, targetClass, attribute, bean));
		this.bodies.merge(new MethodClassKey(operation.method(), targetClass), body, (known,
				other) -> known.map(Body::description).equals(other.map(Body::description)) ? known : Optional.empty());
	}

	private Body body(LockOperation operation, Class<?> targetClass, TransactionAttribute attribute, Object bean) {
		String name = (attribute.getName() != null) ? attribute.getName()
				: ClassUtils.getQualifiedMethodName(operation.method(), targetClass);
		boolean claiming = !attribute.isReadOnly() && ClaimInterceptor.addTo(bean);
		BodyTransaction transaction = claiming ? BodyTransaction.claiming(name) : BodyTransaction.of(name);
		return new Body(name + claiming, transaction,
				TemplateAccess.withTransaction(operation.template(), transaction));
	}

	/**
	 * What is known of the transaction of a method.
	 * @return {@code null} if there is more inside of its lock
	 */
	@Nullable Body of(LockOperation operation, Class<?> targetClass) {
		Optional<Body> body = this.bodies.get(new MethodClassKey(operation.method(), targetClass));
		return (body != null) ? body.orElse(null) : null;
	}

	/**
	 * The transaction of a method, if it begins right under the lock, so that nothing
	 * else is inside of it.
	 */
	private static Optional<TransactionAttribute> attribute(List<Advisor> advisors, Method method,
			Class<?> targetClass) {
		int next = indexOfLock(advisors) + 1;
		if (next == 0 || next == advisors.size()
				|| advisors.get(next).getAdvice().getClass() != TransactionInterceptor.class) {
			return Optional.empty();
		}
		TransactionAttribute attribute = transactionAttribute(advisors.get(next), method, targetClass);
		return Optional.ofNullable(attribute).filter((found) -> BEGINNING.contains(found.getPropagationBehavior()));
	}

	public static @Nullable TransactionAttribute transactionAttribute(Advisor advisor, Method method,
			Class<?> targetClass) {
		if (!(advisor.getAdvice() instanceof TransactionInterceptor transactions)) {
			return null;
		}
		TransactionAttributeSource attributes = transactions.getTransactionAttributeSource();
		return (attributes != null) ? attributes.getTransactionAttribute(method, targetClass) : null;
	}

	public static int indexOfLock(List<Advisor> advisors) {
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
	 * @param description what has to be the same for all beans of a class
	 * @param transaction the transaction
	 * @param template takes the lock
	 */
	record Body(String description, BodyTransaction transaction, LockTemplate template) {

	}

}
