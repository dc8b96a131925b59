package io.github.holdfast.autoconfigure;

import javax.sql.DataSource;

import io.github.holdfast.transaction.CommitGuardLevel;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.transaction.TransactionManager;
import org.springframework.util.StringUtils;

/**
 * Matches if the commits of transactions are fenced: as configured, or by default if
 * there are a {@code DataSource} and a transaction manager.
 */
class OnFence extends SpringBootCondition implements ConfigurationCondition {

	static final String LEVEL = "holdfast.commit-guard";

	@Override
	public ConfigurationPhase getConfigurationPhase() {
		return ConfigurationPhase.REGISTER_BEAN;
	}

	@Override
	public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
		ConditionMessage.Builder message = ConditionMessage.forCondition("Commit guard");
		String level = context.getEnvironment().getProperty(LEVEL);
		if (StringUtils.hasText(level)) {
			return new ConditionOutcome(CommitGuardLevel.FENCE.name().equalsIgnoreCase(level),
					message.foundExactly(LEVEL + "=" + level));
		}
		boolean local = "local".equalsIgnoreCase(context.getEnvironment().getProperty("holdfast.backend"));
		boolean fence = !local && count(context, DataSource.class) > 0
				&& count(context, TransactionManager.class) > count(context, ReactiveTransactionManager.class);
		return new ConditionOutcome(fence, message.because(fence ? "there are transactions" : "none is needed"));
	}

	private static int count(ConditionContext context, Class<?> type) {
		ConfigurableListableBeanFactory beans = context.getBeanFactory();
		return (beans != null) ? beans.getBeanNamesForType(type, true, false).length : 0;
	}

}
