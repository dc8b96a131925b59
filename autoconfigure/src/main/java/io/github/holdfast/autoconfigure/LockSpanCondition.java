package io.github.holdfast.autoconfigure;

import java.util.Set;
import java.util.TreeSet;

import io.micrometer.observation.ObservationHandler;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.ClassUtils;

/**
 * Matches unless observations would only become meters: those are there already, for
 * less.
 */
class LockSpanCondition extends SpringBootCondition implements ConfigurationCondition {

	private static final String OF_METERS = "io.micrometer.core.instrument.observation.MeterObservationHandler";

	@Override
	public ConfigurationPhase getConfigurationPhase() {
		return ConfigurationPhase.REGISTER_BEAN;
	}

	@Override
	public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
		ConditionMessage.Builder message = ConditionMessage.forCondition("Spans of locks");
		ConfigurableListableBeanFactory beanFactory = context.getBeanFactory();
		Set<String> handlers = names(beanFactory, ObservationHandler.class);
		Set<String> others = new TreeSet<>(handlers);
		if (ClassUtils.isPresent(OF_METERS, context.getClassLoader())) {
			others.removeAll(names(beanFactory, ClassUtils.resolveClassName(OF_METERS, context.getClassLoader())));
		}
		return (handlers.isEmpty() || !others.isEmpty())
				? ConditionOutcome.match(message.found("handler").items(others))
				: ConditionOutcome.noMatch(message.because("all handlers make meters"));
	}

	private static Set<String> names(@Nullable ConfigurableListableBeanFactory beanFactory, Class<?> type) {
		return (beanFactory != null) ? Set.of(beanFactory.getBeanNamesForType(type, true, false)) : Set.of();
	}

}
