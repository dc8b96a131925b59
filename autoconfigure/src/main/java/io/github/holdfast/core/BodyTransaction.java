package io.github.holdfast.core;

import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionManager;

/**
 * The transaction that a locked method declares, by its annotations.
 *
 * @param definition propagation, isolation and whether it only reads
 * @param manager supplies its manager, or {@code null} if that is unknown
 * @param innermost whether it begins right inside the lock, with no other advice in
 * between, so that nothing runs before its first statement
 */
public record BodyTransaction(TransactionDefinition definition,
		Supplier<? extends @Nullable TransactionManager> manager, boolean innermost) {

	/**
	 * Whether the method leaves a running transaction of its manager.
	 * @return {@code true} for REQUIRES_NEW and NOT_SUPPORTED
	 */
	public boolean suspends() {
		return propagation() == TransactionDefinition.PROPAGATION_REQUIRES_NEW
				|| propagation() == TransactionDefinition.PROPAGATION_NOT_SUPPORTED;
	}

	/**
	 * Whether the method always begins a transaction, unless it joins one.
	 * @return {@code true} for REQUIRED and REQUIRES_NEW
	 */
	public boolean begins() {
		return propagation() == TransactionDefinition.PROPAGATION_REQUIRES_NEW
				|| propagation() == TransactionDefinition.PROPAGATION_REQUIRED;
	}

	private int propagation() {
		return this.definition.getPropagationBehavior();
	}

}
