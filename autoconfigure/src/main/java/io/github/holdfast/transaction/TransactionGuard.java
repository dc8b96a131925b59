package io.github.holdfast.transaction;

import java.lang.reflect.Method;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockException;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockRequest;
import io.github.holdfast.core.Grant;
import io.github.holdfast.core.LockCall;
import io.github.holdfast.core.LockCall.Result;
import io.github.holdfast.core.LockGuard;
import io.github.holdfast.core.LockSettings;
import io.github.holdfast.core.LockSettings.BodyTransaction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.NestedExceptionUtils;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.Assert;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Binds locked calls to Spring's transactions.
 */
public final class TransactionGuard implements LockGuard {

	private static final Logger logger = LoggerFactory.getLogger(TransactionGuard.class);

	/** Transactions that are not Spring's, with a static method that returns their id. */
	private static final List<Method> FOREIGN = Stream
		.of("com.baomidou.dynamic.datasource.tx.TransactionContext", "io.seata.core.context.RootContext",
				"org.apache.seata.core.context.RootContext")
		.filter((name) -> ClassUtils.isPresent(name, TransactionGuard.class.getClassLoader()))
		.map((name) -> ReflectionUtils
			.findMethod(ClassUtils.resolveClassName(name, TransactionGuard.class.getClassLoader()), "getXID"))
		.filter(Objects::nonNull)
		.toList();

	private final GuardedManagers managers;

	private final SingletonSupplier<Optional<RowClaims>> claims;

	private final OnActiveTransaction policy;

	private final @Nullable ViewContexts views;

	private final Set<String> warned = ConcurrentHashMap.newKeySet();

	/**
	 * Create a guard.
	 * @param managers the transaction managers
	 * @param claims supplies the rows that transactions claim, or {@code null} at
	 * {@code holdfast.commit-guard: lease}
	 * @param policy what happens inside a running transaction
	 * @param views isolates open persistence contexts, or {@code null} without JPA
	 */
	public TransactionGuard(GuardedManagers managers, Supplier<@Nullable RowClaims> claims, OnActiveTransaction policy,
			@Nullable ViewContexts views) {
		this.managers = managers;
		this.claims = SingletonSupplier.of(() -> Optional.ofNullable(claims.get()));
		this.policy = policy;
		this.views = views;
	}

	/**
	 * A call is a transaction lock, or claims by its first statement, if the method
	 * itself is the transaction. Everything else is a lease that is in its row before the
	 * body.
	 */
	@Override
	public Protection protectionOf(LockSettings settings) {
		RowClaims claims = this.claims.obtain().orElse(null);
		if (claims == null || settings.mode() == LockMode.SHARED) {
			return Protection.LEASE;
		}
		BodyTransaction transaction = settings.transaction();
		if (transaction == null || settings.mode() != LockMode.EXCLUSIVE || !isOwn(transaction, claims)
				|| isInside(settings)) {
			return Protection.INSTALLED;
		}
		boolean held = settings.times().minHoldTime() != null || settings.times().maxHoldTime() != null;
		return (claims.hasTransactionLocks() && !held && !settings.fair()) ? Protection.TRANSACTION
				: Protection.CLAIMED;
	}

	private boolean isOwn(BodyTransaction transaction, RowClaims claims) {
		TransactionDefinition definition = transaction.definition();
		GuardedManagers.GuardedManager manager = this.managers.find(transaction.manager().get());
		return transaction.innermost() && transaction.begins() && !definition.isReadOnly() && manager != null
				&& manager.claims() != null && claims.mayWait(definition.getIsolationLevel());
	}

	@Override
	public void beforeAcquire(LockCall call) {
		checkTransactions(call);
		if (this.views != null) {
			this.views.check(call);
		}
	}

	/**
	 * Whether a call would run inside a running transaction. Its own transaction suspends
	 * only one of its manager.
	 */
	private boolean isInside(LockSettings settings) {
		BodyTransaction body = settings.transaction();
		TransactionManager suspended = (body != null && body.suspends()) ? body.manager().get() : null;
		return this.managers.isAnyRunning(suspended) || suspended == null && isForeignActive();
	}

	private static boolean isForeignActive() {
		return !FOREIGN.isEmpty()
				&& FOREIGN.stream().anyMatch((method) -> ReflectionUtils.invokeMethod(method, null) != null);
	}

	/**
	 * Decides about locked calls inside a running transaction. It might have read old
	 * data, and it commits after the release.
	 */
	private void checkTransactions(LockCall call) {
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

	@Override
	public PendingLease pending(LockRequest request) {
		return this.claims.obtain().orElseThrow().pending(request);
	}

	@Override
	public boolean install(Grant grant, long nanos) throws InterruptedException {
		return this.claims.obtain().orElseThrow().install(grant, nanos);
	}

	@Override
	public LockBackend.@Nullable Lease version(LockRequest request) throws InterruptedException {
		RowClaims claims = this.claims.obtain().orElse(null);
		return (claims != null) ? claims.version(request) : LockGuard.super.version(request);
	}

	/**
	 * Spring does not translate 1020, which is what MariaDB's snapshot isolation reports.
	 */
	@Override
	public boolean isConflict(Throwable failure) {
		return LockGuard.super.isConflict(failure)
				|| NestedExceptionUtils.getMostSpecificCause(failure) instanceof SQLException ex
						&& ex.getErrorCode() == 1020;
	}

	@Override
	public void acquired(LockCall call) {
		if (this.views != null) {
			this.views.replace(call);
		}
	}

	/**
	 * A transaction of a manager other than the expected one would run without the lock,
	 * and so would the second one that begins under a transaction lock.
	 */
	@Override
	public void beforeBody(LockCall call) {
		OpenTransaction.throwFailure(call);
		boolean claimed = call.missing().stream().allMatch((key) -> OpenTransaction.isClaimed(call.settings(), key));
		Assert.state(claimed || call.protection().compareTo(Protection.CLAIMED) > 0,
				"The lock was to be taken by the transaction of the method, but the transaction has begun without it. "
						+ "Name the transaction manager in @Transactional, and let no listener commit before the method");
		if (claimed) {
			call.note(Result.CLAIMED);
		}
	}

	/**
	 * A lock that is closed inside its transaction is released when the transaction has
	 * ended.
	 */
	@Override
	public boolean beforeRelease(LockCall call, Runnable release) {
		OpenTransaction open = OpenTransaction.under(call);
		if (open != null) {
			open.whenOver(() -> putBack(call));
			open.whenOver(release);
		}
		else {
			putBack(call);
		}
		return open != null;
	}

	private void putBack(LockCall call) {
		if (this.views != null) {
			this.views.putBack(call);
		}
	}

	@Override
	public void exclude(String key, @Nullable Long epoch) {
		Optional.ofNullable(epoch)
			.ifPresent((number) -> this.claims.obtain().ifPresent((claims) -> claims.exclude(key, number)));
	}

}
