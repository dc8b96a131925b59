package io.github.holdfast.chaos;

import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.BodyTransaction;
import io.github.holdfast.core.TemplateAccess;

/**
 * Transactions with a callback that sells without any after the commit, in methods that
 * had none so far: their transactions claim their locks, which end with them.
 */
final class LateSales {

	private static final String NAME = "late sales";

	private final LockTemplate locks;

	private final Shop shop;

	private final TransactionTemplate transaction;

	private final TransactionTemplate none;

	LateSales(LockTemplate locks, Shop shop, PlatformTransactionManager manager) {
		this.locks = locks;
		this.shop = shop;
		this.transaction = new TransactionTemplate(manager);
		this.transaction.setName(NAME);
		this.none = new TransactionTemplate(manager);
		this.none.setPropagationBehavior(TransactionDefinition.PROPAGATION_NOT_SUPPORTED);
	}

	/**
	 * Holdfast learns from a call that its method has callbacks. So each call is the
	 * first one of its method that has some.
	 */
	void sell(String key, CallRecorder call) {
		LockTemplate method = TemplateAccess.withTransaction(this.locks, BodyTransaction.claiming(NAME));
		method.run(key, () -> this.transaction.executeWithoutResult((status) -> BodyTransaction.begun()));
		method.run(key, () -> this.transaction.executeWithoutResult((status) -> {
			BodyTransaction.begun();
			call.underLock(() -> {
				afterCommit(() -> this.none.executeWithoutResult((without) -> this.shop.sellPlainly(key, call)));
				this.shop.sell(key, key, call);
			});
		}));
	}

	private static void afterCommit(Runnable callback) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void afterCommit() {
				callback.run();
			}

		});
	}

}
