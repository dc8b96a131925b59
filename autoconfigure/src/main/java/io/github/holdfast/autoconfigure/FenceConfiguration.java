package io.github.holdfast.autoconfigure;

import javax.sql.DataSource;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.init.PropertiesBasedDataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.autoconfigure.init.OnDatabaseInitializationCondition;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.datasource.DataSourceUtils;

import io.github.holdfast.fence.Fence;
import io.github.holdfast.fence.FenceTable;
import io.github.holdfast.fence.RowFence;
import io.github.holdfast.transaction.FenceClaimRule;

/**
 * The fence table, for the level {@code fence} on a backend without a table of its own in
 * the business database.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({ DataSource.class, DataSourceUtils.class,
		PropertiesBasedDataSourceScriptDatabaseInitializer.class })
@ConditionalOnProperty(name = "holdfast.commit-guard", havingValue = "fence")
@ConditionalOnMissingBean(Fence.class)
@EnableConfigurationProperties(LockProperties.Fence.class)
@Import(LockDataSource.class)
class FenceConfiguration {

	@Bean
	FenceTable lockFenceTable(LockDataSource dataSource, LockProperties.Fence fence,
			ObjectProvider<LockBackendCandidate> candidates, LockProperties properties) {
		String source = fence.getSource();
		if (source == null) {
			source = LockBackendCandidate.onlyOne(candidates.orderedStream().toList(), properties.getBackend())
				.type()
				.propertyValue();
		}
		return new FenceTable(dataSource, source);
	}

	@Bean
	RowFence lockFence(FenceTable table) {
		return table.fence();
	}

	@Bean
	FenceClaimRule lockFenceClaimRule() {
		return new FenceClaimRule();
	}

	@Bean
	@DependsOnDatabaseInitialization
	TableCheck fenceTableCheck(FenceTable table) {
		return new TableCheck(TableCheck.Table.FENCE, table::dialect, table::checkTable, table::checkWritable);
	}

	@Bean
	@ConditionalOnMissingBean
	@Conditional(OnFenceSchemaCondition.class)
	FenceSchemaInitializer fenceSchemaInitializer(LockDataSource dataSource, LockProperties.Fence properties) {
		return TableCheck.Table.FENCE.initializer(() -> new FenceSchemaInitializer(dataSource.get(), properties));
	}

	static class OnFenceSchemaCondition extends OnDatabaseInitializationCondition {

		OnFenceSchemaCondition() {
			super("Holdfast fence", "holdfast.fence.initialize-schema");
		}

	}

}
