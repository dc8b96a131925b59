package io.github.holdfast.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.Role;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionInterceptor;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.check.LockNames;
import io.github.holdfast.check.LockedBeanCheck;
import io.github.holdfast.check.OnEntityArgument;
import io.github.holdfast.fence.Fence;
import io.github.holdfast.interceptor.DistributedLockAdvisor;
import io.github.holdfast.interceptor.LockOperationSource;
import io.github.holdfast.interceptor.TransactionManagers;
import io.github.holdfast.transaction.ActiveTransactionRule;
import io.github.holdfast.transaction.BoundResourcesRule;
import io.github.holdfast.transaction.CommitGuardPostProcessor;
import io.github.holdfast.transaction.OnActiveTransaction;

/**
 * {@link org.springframework.boot.autoconfigure.EnableAutoConfiguration
 * Auto-configuration} for {@link DistributedLock @DistributedLock} and the guard at
 * commit.
 *
 * <p>
 * The beans here are needed while the first other bean is created, so they take providers
 * and never the store itself.
 *
 * @since 0.2.0
 */
@AutoConfiguration(after = LockBackendAutoConfiguration.class,
		afterName = "org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration")
@ConditionalOnBooleanProperty(name = "holdfast.enabled", matchIfMissing = true)
@Import({ DistributedLockAutoConfiguration.AutoProxyRegistrar.class, JpaLockConfiguration.class })
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
public final class DistributedLockAutoConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static LockOperationSource lockOperationSource(ObjectProvider<LockTemplate> template,
			ObjectProvider<TransactionAttributeSource> transactionAttributes,
			ObjectProvider<TransactionInterceptor> transactionInterceptor,
			ConfigurableListableBeanFactory beanFactory) {
		return new LockOperationSource(template::getObject, transactionAttributes::getIfUnique,
				new TransactionManagers(transactionInterceptor::getIfUnique, beanFactory), beanFactory);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static DistributedLockAdvisor distributedLockAdvisor(LockOperationSource source, Environment environment) {
		return new DistributedLockAdvisor(source,
				environment.getProperty("holdfast.order", Integer.class, DistributedLockAdvisor.DEFAULT_ORDER));
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static LockNames lockNames(LockOperationSource source, ConfigurableListableBeanFactory beanFactory) {
		return new LockNames(source, beanFactory);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static LockedBeanCheck lockedBeanCheck(LockOperationSource source, ObjectProvider<LockProperties> properties,
			ObjectProvider<LockProperties.Jpa> jpa) {
		return new LockedBeanCheck(source, LockBackendType::remedy, () -> properties.getObject().getOnSelfCall(),
				() -> onEntityArgument(jpa.getIfAvailable()),
				() -> properties.getObject().getOnActiveTransaction() != OnActiveTransaction.RELEASE_AFTER_COMPLETION);
	}

	private static OnEntityArgument onEntityArgument(LockProperties.@Nullable Jpa jpa) {
		return (jpa != null) ? jpa.onEntityArgument() : OnEntityArgument.WARN;
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static CommitGuardPostProcessor commitGuardPostProcessor(ObjectProvider<LockProperties> properties,
			ObjectProvider<Fence> fence, ObjectProvider<NamedBackends> named) {
		CommitGuardPostProcessor processor = new CommitGuardPostProcessor(
				() -> properties.getObject().effectiveCommitGuard(fence.getIfAvailable() != null),
				fence::getIfAvailable);
		processor.setOthers(named::getObject);
		processor.setUnguarded(() -> properties.getObject().getUnguardedTransactionManagers());
		processor.setFenced(() -> properties.getObject().getFencedTransactionManagers());
		return processor;
	}

	/**
	 * First of the listeners, as a running transaction explains what others would find.
	 */
	@Bean
	@ConditionalOnMissingBean
	@Order(0)
	ActiveTransactionRule activeTransactionRule(LockProperties properties) {
		return new ActiveTransactionRule(properties.getOnActiveTransaction());
	}

	/**
	 * Last of the listeners, as a call that another one refuses changes nothing.
	 */
	@Bean
	@ConditionalOnMissingBean
	BoundResourcesRule boundResourcesRule() {
		return new BoundResourcesRule();
	}

	static class AutoProxyRegistrar implements ImportBeanDefinitionRegistrar {

		@Override
		public void registerBeanDefinitions(AnnotationMetadata metadata, BeanDefinitionRegistry registry) {
			AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
		}

	}

}
