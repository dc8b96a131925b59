package io.github.holdfast.testsupport;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.transaction.PlatformTransactionManager;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.LockManager;
import io.github.holdfast.core.LockSettings;
import io.github.holdfast.transaction.CommitGuardLevel;
import io.github.holdfast.transaction.GuardedManagers;
import io.github.holdfast.transaction.OnActiveTransaction;
import io.github.holdfast.transaction.RowClaims;
import io.github.holdfast.transaction.TransactionGuard;

/** A node that is no application: locks, and the transactions under them. */
public final class GuardedNode implements AutoCloseable {

	private static final String MANAGER = "transactionManager";

	private final LockManager manager;

	private final LockTemplate locks;

	public GuardedNode(LockBackend backend, @Nullable RowClaims claims, PlatformTransactionManager... managers) {
		this(backend, claims, Duration.ofMillis(25), managers);
	}

	public GuardedNode(LockBackend backend, @Nullable RowClaims claims, Duration handoverLimit,
			PlatformTransactionManager... managers) {
		GuardedManagers guarded = new GuardedManagers(new DefaultListableBeanFactory(), () -> claims,
				() -> (managers.length == 0) ? Map.of()
						: Map.of(MANAGER, (claims != null) ? CommitGuardLevel.FENCE : CommitGuardLevel.LEASE));
		Stream.of(managers).forEach((each) -> guarded.postProcessAfterInitialization(each, MANAGER));
		guarded.afterSingletonsInstantiated();
		TransactionGuard guard = new TransactionGuard(guarded, () -> claims, OnActiveTransaction.REJECT, null);
		this.manager = new LockManager(() -> backend, () -> guard, List::of, (name) -> null, LockSettings.DEFAULT,
				handoverLimit);
		this.locks = new LockTemplate(this.manager);
	}

	public LockTemplate locks() {
		return this.locks;
	}

	@Override
	public void close() {
		this.manager.close();
	}

}
