package io.github.holdfast.autoconfigure;

import jakarta.persistence.EntityManager;

import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.orm.jpa.EntityManagerHolder;

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
		return new StaleContextRule(properties.getStaleContext());
	}

}
