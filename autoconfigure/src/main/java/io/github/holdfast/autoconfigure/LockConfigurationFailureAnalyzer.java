package io.github.holdfast.autoconfigure;

import io.github.holdfast.LockConfigurationException;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.annotation.Order;

/**
 * {@link AbstractFailureAnalyzer} for a {@link LockConfigurationException}, before that
 * for properties that cannot be bound.
 */
@Order(0)
class LockConfigurationFailureAnalyzer extends AbstractFailureAnalyzer<LockConfigurationException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, LockConfigurationException cause) {
		return new FailureAnalysis(cause.description(), cause.action(), cause);
	}

}
