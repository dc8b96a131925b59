package io.github.holdfast.autoconfigure;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

import javax.sql.DataSource;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.jdbc.init.PropertiesBasedDataSourceScriptDatabaseInitializer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.context.annotation.Import;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.transaction.TransactionManager;
import org.springframework.util.StringUtils;

import io.github.holdfast.core.LockConfigurationException;
import io.github.holdfast.fence.Fence;
import io.github.holdfast.fence.FenceTable;
import io.github.holdfast.fence.RowFence;
import io.github.holdfast.interceptor.Mocks;
import io.github.holdfast.transaction.CommitGuardLevel;

/**
 * The fence table, for the level {@code fence} on a backend without a table of its own in
 * the business database. That is the default for locks that can be lost while their
 * process lives, if there are transactions that can be checked.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({ DataSource.class, DataSourceUtils.class,
		PropertiesBasedDataSourceScriptDatabaseInitializer.class })
@Conditional(FenceConfiguration.OnFenceCondition.class)
@ConditionalOnMissingBean(Fence.class)
@Import(FenceTableConfiguration.class)
class FenceConfiguration {

	static final String LEVEL = "holdfast.commit-guard";

	private static final List<String> NOT_SQL = List.of("org.springframework.amqp.", "org.springframework.data.",
			"org.springframework.jms.", "org.springframework.kafka.");

	@Bean
	FenceTable lockFenceTable(FenceTables tables, LockProperties.Fence fence,
			ObjectProvider<LockBackendCandidate> candidates, LockProperties properties) {
		String source = fence.getSource();
		if (source == null) {
			source = LockBackendCandidate.onlyOne(candidates.orderedStream().toList(), properties.getBackend())
				.type()
				.propertyValue();
		}
		return tables.of(source);
	}

	@Bean
	RowFence lockFence(FenceTable table) {
		return table.fence();
	}

	static LockConfigurationException noFence() {
		return new LockConfigurationException(
				"The level 'fence' of 'holdfast.commit-guard' needs a table in the business database, "
						+ "but there is no support for databases on the class path.",
				"Add 'spring-boot-starter-jdbc' or another starter with a DataSource, "
						+ "or set 'holdfast.commit-guard' to 'lease' or 'verify'.");
	}

	/**
	 * Refuse to check nothing without having been told to, although there are
	 * transactions: their manager was not known yet when it was decided. Mocks of a test
	 * have none.
	 */
	static void checkUnfenced(String locks, LockProperties properties, ListableBeanFactory beans) {
		if (properties.getCommitGuard() == null && canFence(beans)
				&& !sqlManagers(beans).allMatch((manager) -> Mocks.isMock(beans.getBean(manager)))) {
			throw new LockConfigurationException(
					"The locks of " + locks + " have no fence, although there are transactions to check.",
					"If the application is processed ahead of time, build it with the same properties. If an "
							+ "auto-configuration of yours has the transaction manager, let it come before those of "
							+ "Holdfast. Otherwise set '" + LEVEL + "'.");
		}
	}

	/**
	 * Whether transactions can be checked, and are to be.
	 */
	static ConditionOutcome fenceOutcome(ConditionContext context, ConditionMessage.Builder message) {
		String level = context.getEnvironment().getProperty(LEVEL);
		if (StringUtils.hasText(level)) {
			return new ConditionOutcome(CommitGuardLevel.FENCE.name().equalsIgnoreCase(level),
					message.foundExactly(LEVEL + "=" + level));
		}
		boolean transactions = canFence(Objects.requireNonNull(context.getBeanFactory()));
		return new ConditionOutcome(transactions,
				message.because(transactions ? "there are transactions" : "there are no transactions"));
	}

	/**
	 * Whether there are transactions whose commits a fence could check.
	 */
	static boolean canFence(ListableBeanFactory beans) {
		return sqlManagers(beans).findAny().isPresent() && names(beans, DataSource.class).findAny().isPresent();
	}

	private static Stream<String> sqlManagers(ListableBeanFactory beans) {
		return names(beans, TransactionManager.class).filter((name) -> isSql(beans, name));
	}

	private static Stream<String> names(ListableBeanFactory beans, Class<?> type) {
		return Arrays.stream(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, type, true, false));
	}

	/**
	 * Nothing else may be known of its type than that it is a transaction manager.
	 */
	private static boolean isSql(ListableBeanFactory beans, String manager) {
		Class<?> type = beans.getType(manager, false);
		return type == null || !ReactiveTransactionManager.class.isAssignableFrom(type)
				&& NOT_SQL.stream().noneMatch(type.getName()::startsWith);
	}

	static class OnFenceCondition extends SpringBootCondition implements ConfigurationCondition {

		@Override
		public ConfigurationPhase getConfigurationPhase() {
			return ConfigurationPhase.REGISTER_BEAN;
		}

		@Override
		public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
			ConditionMessage.Builder message = ConditionMessage.forCondition("Fence");
			boolean local = !StringUtils.hasText(context.getEnvironment().getProperty(LEVEL))
					&& LockBackendType.LOCAL.propertyValue()
						.equalsIgnoreCase(context.getEnvironment().getProperty("holdfast.backend"));
			return local
					? ConditionOutcome.noMatch(message.because("local locks are not lost while their process lives"))
					: fenceOutcome(context, message);
		}

	}

}
