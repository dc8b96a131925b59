package io.github.holdfast.autoconfigure;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;

import io.github.holdfast.store.local.LocalLockBackend;

/**
 * Locks in the memory of this JVM.
 */
@Configuration(proxyBeanMethods = false)
@Conditional(LockBackendCondition.class)
class LocalLockConfiguration {

	@Bean
	LockBackendCandidate localLockBackend(LockProperties.Handover properties) {
		return new LockBackendCandidate(LockBackendType.LOCAL, () -> new LocalLockBackend(properties.queueLimits()));
	}

}
