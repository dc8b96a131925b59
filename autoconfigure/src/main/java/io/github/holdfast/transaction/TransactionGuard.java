package io.github.holdfast.transaction;

import java.sql.SQLException;
import java.util.Optional;
import java.util.function.Supplier;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockRequest;
import io.github.holdfast.core.BodyTransaction;
import io.github.holdfast.core.Grant;
import io.github.holdfast.core.LockCall;
import io.github.holdfast.core.LockGuard;
import io.github.holdfast.core.LockSettings;
import org.jspecify.annotations.Nullable;

import org.springframework.core.NestedExceptionUtils;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.util.function.SingletonSupplier;

/**
 * Binds locked calls to Spring's transactions.
 */
public final class TransactionGuard implements LockGuard {

	private final GuardedManagers managers;

	private final SingletonSupplier<Optional<RowClaims>> claims;

	private final ActiveTransactionRule activeTransactions;

	private final @Nullable ViewContexts views;

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
		this.activeTransactions = new ActiveTransactionRule(policy, managers);
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
				|| this.activeTransactions.isInside(settings)) {
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
		this.activeTransactions.check(call);
		if (this.views != null) {
			this.views.check(call);
		}
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
