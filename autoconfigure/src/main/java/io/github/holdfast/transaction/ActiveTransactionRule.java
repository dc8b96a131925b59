package io.github.holdfast.transaction;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import io.github.holdfast.LockException;
import io.github.holdfast.LockMode;
import io.github.holdfast.core.BodyTransaction;
import io.github.holdfast.core.LockCall;
import io.github.holdfast.core.LockSettings;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Decides about locked calls inside a running transaction. It might have read old data,
 * and it commits after the release.
 */
final class ActiveTransactionRule {

	private static final Logger logger = LoggerFactory.getLogger(ActiveTransactionRule.class);

	/** Transactions that are not Spring's, with a static method that returns their id. */
	private static final List<Method> FOREIGN = Stream
		.of("com.baomidou.dynamic.datasource.tx.TransactionContext", "io.seata.core.context.RootContext",
				"org.apache.seata.core.context.RootContext")
		.filter((name) -> ClassUtils.isPresent(name, ActiveTransactionRule.class.getClassLoader()))
		.map((name) -> ReflectionUtils
			.findMethod(ClassUtils.resolveClassName(name, ActiveTransactionRule.class.getClassLoader()), "getXID"))
		.filter(Objects::nonNull)
		.toList();

	private final OnActiveTransaction policy;

	private final GuardedManagers managers;

	private final Set<String> warned = ConcurrentHashMap.newKeySet();

	ActiveTransactionRule(OnActiveTransaction policy, GuardedManagers managers) {
		this.policy = policy;
		this.managers = managers;
	}

	/**
	 * Whether a call would run inside a running transaction. Its own transaction suspends
	 * only one of its manager.
	 */
	boolean isInside(LockSettings settings) {
		BodyTransaction body = settings.transaction();
		TransactionManager suspended = (body != null && body.suspends()) ? body.manager().get() : null;
		return TransactionSynchronizationManager.isActualTransactionActive() && this.managers.isAnyRunning(suspended)
				|| suspended == null && isForeignActive();
	}

	private static boolean isForeignActive() {
		return !FOREIGN.isEmpty()
				&& FOREIGN.stream().anyMatch((method) -> ReflectionUtils.invokeMethod(method, null) != null);
	}

	void check(LockCall call) {
		for (String key : call.missing()) {
			if (OpenTransaction.isClaimed(call.settings(), key)) {
				throw refused(call, "was closed inside its transaction, which is still open, so that the call would "
						+ "wait for itself. Close it after the transaction has ended");
			}
		}
		if (call.missing().isEmpty() || !isInside(call.settings())) {
			return;
		}
		String name = TransactionSynchronizationManager.getCurrentTransactionName();
		String transaction = (name != null) ? " (" + name + ")" : "";
		if (call.mode() == LockMode.OPTIMISTIC) {
			throw refused(call, "is optimistic and is called inside a running transaction" + transaction
					+ ", which it could not repeat. Call the method without a transaction around it, or declare it "
					+ "@Transactional(propagation = REQUIRES_NEW)");
		}
		if (this.policy == OnActiveTransaction.REJECT || isForeignActive()) {
			throw refused(call, "is called inside a running transaction" + transaction
					+ ", which may have read old data and would commit after the release. Put @DistributedLock on the method "
					+ "that begins the transaction, or declare the locked method @Transactional(propagation = "
					+ "REQUIRES_NEW), which needs a second connection. In a test, remove @Transactional from the test");
		}
		if (this.warned.add(call.name())) {
			logger.warn("Lock '{}' is called inside a running transaction{}, which commits after the lock is released. "
					+ "Nothing protects what it writes", call.name(), transaction);
		}
	}

	private static IllegalStateException refused(LockCall call, String reason) {
		return new IllegalStateException(
				"Lock " + LockException.quote(call.missing().get(0)) + " (" + call.name() + ") " + reason + ".");
	}

}
