package io.github.holdfast.autoconfigure;

import java.util.Map;

import javax.sql.DataSource;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.init.PropertiesBasedDataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.util.StringUtils;

import io.github.holdfast.fence.Fence;
import io.github.holdfast.fence.FenceTable;
import io.github.holdfast.transaction.FenceClaimRule;

/**
 * The fence table for backends beside the default one, if one of them has no table of its
 * own in the business database. It is the same table as that of the default backend.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({ DataSource.class, DataSourceUtils.class,
		PropertiesBasedDataSourceScriptDatabaseInitializer.class })
@Conditional(NamedFenceConfiguration.OnNamedFenceCondition.class)
@EnableConfigurationProperties(LockProperties.Fence.class)
@Import(LockDataSource.class)
class NamedFenceConfiguration {

	@Bean
	NamedFence namedFence(LockDataSource dataSource) {
		return new NamedFence(dataSource);
	}

	@Bean
	@ConditionalOnMissingBean
	FenceClaimRule lockFenceClaimRule(ObjectProvider<Fence> fence, ObjectProvider<NamedBackends> named) {
		return FenceConfiguration.claimRule(fence, named);
	}

	@Bean
	@DependsOnDatabaseInitialization
	@ConditionalOnMissingBean(name = "fenceTableCheck")
	TableCheck fenceTableCheck(NamedFence fence) {
		FenceTable table = fence.table("check");
		return new TableCheck(TableCheck.Table.FENCE, table::dialect, table::checkTable, table::checkWritable);
	}

	@Bean
	@ConditionalOnMissingBean
	@Conditional(FenceConfiguration.OnFenceSchemaCondition.class)
	FenceSchemaInitializer fenceSchemaInitializer(LockDataSource dataSource, LockProperties.Fence properties) {
		return TableCheck.Table.FENCE.initializer(() -> new FenceSchemaInitializer(dataSource.get(), properties));
	}

	static class OnNamedFenceCondition extends SpringBootCondition implements ConfigurationCondition {

		@Override
		public ConfigurationPhase getConfigurationPhase() {
			return ConfigurationPhase.REGISTER_BEAN;
		}

		@Override
		public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
			ConditionMessage.Builder message = ConditionMessage.forCondition("Named fence");
			return isNeeded(context.getEnvironment()) ? FenceConfiguration.fenceOutcome(context, message)
					: ConditionOutcome.noMatch(message.because("all backends have their own rows or none"));
		}

		private static boolean isNeeded(Environment environment) {
			boolean local = StringUtils.hasText(environment.getProperty("holdfast.commit-guard"));
			return NamedBackends.used(environment)
				.entrySet()
				.stream()
				.anyMatch((backend) -> isNeeded(backend.getKey(), backend.getValue(), local));
		}

		private static boolean isNeeded(String id, Map<String, String> backend, boolean local) {
			String type = backend.getOrDefault("type", id);
			if (LockBackendType.JDBC.propertyValue().equalsIgnoreCase(type)) {
				return backend.containsKey("connection");
			}
			return local || !LockBackendType.LOCAL.propertyValue().equalsIgnoreCase(type);
		}

	}

}
