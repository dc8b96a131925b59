package io.github.holdfast.autoconfigure;

import java.util.Objects;

import javax.sql.DataSource;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.jdbc.init.PropertiesBasedDataSourceScriptDatabaseInitializer;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.context.annotation.Import;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.util.StringUtils;

import io.github.holdfast.store.local.LocalLockBackend;

/**
 * The fence table for backends beside the default one, which may not need it itself.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({ DataSource.class, DataSourceUtils.class,
		PropertiesBasedDataSourceScriptDatabaseInitializer.class })
@Conditional(NamedFenceConfiguration.OnNamedFenceCondition.class)
@Import(FenceTableConfiguration.class)
class NamedFenceConfiguration {

	static class OnNamedFenceCondition extends SpringBootCondition implements ConfigurationCondition {

		@Override
		public ConfigurationPhase getConfigurationPhase() {
			return ConfigurationPhase.REGISTER_BEAN;
		}

		@Override
		public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
			ConditionMessage.Builder message = ConditionMessage.forCondition("Named fence");
			boolean leveled = StringUtils.hasText(context.getEnvironment().getProperty(FenceConfiguration.LEVEL));
			boolean needed = NamedBackends.beanNames(context.getEnvironment())
				.anyMatch((bean) -> leveled || !isLocal(Objects.requireNonNull(context.getBeanFactory()), bean));
			return needed ? FenceConfiguration.fenceOutcome(context, message)
					: ConditionOutcome.noMatch(message.because("no other backend needs it"));
		}

		private static boolean isLocal(ConfigurableListableBeanFactory beans, String name) {
			Class<?> type = beans.containsBean(name) ? beans.getType(name, false) : null;
			return type != null && LocalLockBackend.class.isAssignableFrom(type);
		}

	}

}
