package io.github.holdfast.autoconfigure;

import io.github.holdfast.transaction.GuardedManagers;
import io.github.holdfast.transaction.RowClaims;
import io.github.holdfast.transaction.StaleContext;
import io.github.holdfast.transaction.TransactionGuard;
import io.github.holdfast.transaction.ViewContexts;
import jakarta.persistence.EntityManager;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.orm.jpa.EntityManagerHolder;

/**
 * Binds locked calls to transactions.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(DataSourceUtils.class)
class LockTransactionConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static GuardedManagers guardedTransactionManagers(ConfigurableListableBeanFactory beans,
			ObjectProvider<RowClaims> claims, ObjectProvider<HoldfastProperties> properties) {
		return new GuardedManagers(beans, claims::getIfAvailable, () -> properties.getObject().transactionManagers());
	}

	@Bean
	TransactionGuard lockTransactionGuard(GuardedManagers managers, ObjectProvider<RowClaims> claims,
			HoldfastProperties properties, ObjectProvider<ViewContexts> views) {
		return new TransactionGuard(managers, claims::getIfAvailable, properties.onActiveTransaction(),
				views.getIfAvailable());
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ EntityManager.class, EntityManagerHolder.class })
	static class JpaConfiguration {

		@Bean
		ViewContexts lockViewContexts(HoldfastProperties properties) {
			return new ViewContexts(properties.jpa().staleContext() == StaleContext.ISOLATE);
		}

	}

}
