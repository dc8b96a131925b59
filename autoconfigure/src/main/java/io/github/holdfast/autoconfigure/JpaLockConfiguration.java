package io.github.holdfast.autoconfigure;

import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import org.hibernate.engine.spi.SessionFactoryImplementor;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.orm.jpa.EntityManagerHolder;

import io.github.holdfast.jpa.OuterEntityListener;
import io.github.holdfast.transaction.StaleContextRule;

/**
 * Locks around methods that use JPA.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({ EntityManager.class, EntityManagerHolder.class })
@EnableConfigurationProperties(LockProperties.Jpa.class)
class JpaLockConfiguration {

	@Bean
	@ConditionalOnMissingBean
	StaleContextRule staleContextRule(LockProperties.Jpa properties) {
		return new StaleContextRule(properties.staleContext());
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(SessionFactoryImplementor.class)
	static class HibernateConfiguration {

		@Bean
		SmartInitializingSingleton outerEntityListenerRegistration(ObjectProvider<EntityManagerFactory> factories) {
			return () -> factories.stream().forEach(OuterEntityListener::register);
		}

	}

}
