package io.github.holdfast.test;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

import io.github.holdfast.autoconfigure.LockBackendAutoConfiguration;

/**
 * {@link org.springframework.boot.autoconfigure.EnableAutoConfiguration
 * Auto-configuration} for {@link TestLocks}.
 *
 * @since 0.2.0
 */
@AutoConfiguration(before = LockBackendAutoConfiguration.class)
public final class TestLocksAutoConfiguration {

	@Bean
	@Primary
	TestLockBackend testLockBackend() {
		return new TestLockBackend();
	}

	@Bean
	TestLocks testLocks(TestLockBackend backend, Environment environment) {
		return new TestLocks(backend, environment.getProperty("holdfast.key-prefix", "lock:"));
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static CommitWitnessPostProcessor commitWitnessPostProcessor(ObjectProvider<TestLockBackend> backend) {
		return new CommitWitnessPostProcessor(backend::getObject);
	}

}
