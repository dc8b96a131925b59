package io.github.holdfast.autoconfigure;

import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.sql.autoconfigure.init.OnDatabaseInitializationCondition;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import io.github.holdfast.fence.FenceTable;

/**
 * The fence table in the business database, whichever backends need it.
 */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties({ LockProperties.Fence.class, LockProperties.Database.class })
@Import({ LockDataSource.class, FenceClaimConfiguration.class, DatabaseCheck.class })
class FenceTableConfiguration {

	@Bean
	FenceTables fenceTables(LockDataSource dataSource) {
		return new FenceTables(dataSource);
	}

	@Bean
	@DependsOnDatabaseInitialization
	TableCheck fenceTableCheck(LockDataSource dataSource, DatabaseCheck database) {
		FenceTable fence = new FenceTable(dataSource, "check");
		return new TableCheck(TableCheck.Table.FENCE, fence::dialect, fence::checkTable, fence::checkWritable,
				(table) -> database.check(table, fence.fence()));
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
