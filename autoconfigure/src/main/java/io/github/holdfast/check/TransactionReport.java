package io.github.holdfast.check;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.asm.Type;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

import io.github.holdfast.interceptor.LockOperation;
import io.github.holdfast.interceptor.LockOperationSource;

/**
 * Tells when the start is complete how its locked methods meet transactions: those that
 * declare none, and those that are called inside of one. Neither is surely a mistake, so
 * nothing is refused.
 */
final class TransactionReport {

	private static final Logger logger = LoggerFactory.getLogger(TransactionReport.class);

	/** With these, a method runs in a transaction, its own or that of its caller. */
	private static final Set<Integer> INSIDE = Set.of(TransactionDefinition.PROPAGATION_REQUIRED,
			TransactionDefinition.PROPAGATION_REQUIRES_NEW, TransactionDefinition.PROPAGATION_NESTED,
			TransactionDefinition.PROPAGATION_MANDATORY);

	/** With these, a method leaves the transaction of its caller. */
	private static final Set<Integer> APART = Set.of(TransactionDefinition.PROPAGATION_REQUIRES_NEW,
			TransactionDefinition.PROPAGATION_NOT_SUPPORTED);

	private final LockOperationSource source;

	private final Set<String> withoutTransaction = new ConcurrentSkipListSet<>();

	private final List<Joining> joining = new CopyOnWriteArrayList<>();

	private final Set<String> calls = new TreeSet<>();

	TransactionReport(LockOperationSource source) {
		this.source = source;
	}

	/**
	 * Note a locked method of a bean.
	 * @param attribute its transaction, or {@code null} if it declares none
	 */
	void note(LockOperation operation, Class<?> targetClass, @Nullable TransactionAttribute attribute) {
		if (attribute == null) {
			this.withoutTransaction.add(operation.location());
		}
		if (attribute == null || !APART.contains(attribute.getPropagationBehavior())) {
			this.joining.add(Joining.of(operation, targetClass));
		}
	}

	/**
	 * Tell which methods declare no transaction.
	 */
	void tellMethodsWithoutTransaction() {
		if (!this.withoutTransaction.isEmpty()) {
			logger.info("Locked methods that declare no transaction: {}. What they write is not checked at a commit, "
					+ "and each statement commits alone. Declare them @Transactional, unless they begin transactions "
					+ "themselves or write to no database", this.withoutTransaction);
		}
	}

	boolean hasMethods() {
		return !this.withoutTransaction.isEmpty() || !this.joining.isEmpty();
	}

	/**
	 * Find the calls of locked methods that a bean makes inside of transactions. A caller
	 * that is locked itself may hold the locks already.
	 * @param attributes gives the transaction of a method of the bean
	 */
	void findCalls(Class<?> beanClass, Function<Method, @Nullable TransactionAttribute> attributes) {
		CallGraph graph = null;
		for (Method method : ReflectionUtils.getUniqueDeclaredMethods(beanClass)) {
			TransactionAttribute attribute = method.isSynthetic() ? null : attributes.apply(method);
			if (attribute == null || !INSIDE.contains(attribute.getPropagationBehavior())
					|| this.source.isLocked(method, beanClass)) {
				continue;
			}
			graph = (graph != null) ? graph : CallGraph.of(beanClass);
			String caller = ClassUtils.getShortName(beanClass) + "." + method.getName()
					+ " is transactional and calls ";
			for (CallGraph.Call call : graph.from(method.getName() + Type.getMethodDescriptor(method))) {
				this.joining.stream()
					.filter((locked) -> locked.isCalledBy(call))
					.forEach((locked) -> this.calls.add(caller + locked.location() + " (" + call.place() + ")"));
			}
		}
	}

	/**
	 * Tell of all calls that were found.
	 */
	void tellCalls() {
		if (!this.calls.isEmpty()) {
			logger.warn("Transactional methods call locked ones. Unless the keys are held already, such a call does "
					+ "what 'holdfast.on-active-transaction' says, and is refused by default: {}. Take the locks before "
					+ "the transaction begins, or see docs/transactions.md for other remedies",
					String.join("; ", this.calls));
			this.calls.clear();
		}
	}

	/**
	 * A locked method that works in the transaction of its caller.
	 *
	 * @param location the method
	 * @param method its name and descriptor
	 * @param owners the internal names of what its class is
	 */
	private record Joining(String location, String method, Set<String> owners) {

		static Joining of(LockOperation operation, Class<?> targetClass) {
			Stream<Class<?>> superclasses = Stream.iterate(targetClass, Objects::nonNull, Class::getSuperclass);
			return new Joining(operation.location(),
					operation.method().getName() + Type.getMethodDescriptor(operation.method()),
					Stream.concat(superclasses, ClassUtils.getAllInterfacesForClassAsSet(targetClass).stream())
						.map(Type::getInternalName)
						.collect(Collectors.toUnmodifiableSet()));
		}

		boolean isCalledBy(CallGraph.Call call) {
			return this.method.equals(call.method()) && this.owners.contains(call.owner());
		}

	}

}
