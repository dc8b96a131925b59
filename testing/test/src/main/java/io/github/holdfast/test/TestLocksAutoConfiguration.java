package io.github.holdfast.test;

import java.util.ArrayList;
import java.util.List;

import io.github.holdfast.LockListener;
import io.github.holdfast.autoconfigure.HoldfastAutoConfiguration;
import io.github.holdfast.autoconfigure.HoldfastProperties;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.TransactionExecutionListener;

/**
 * {@link org.springframework.boot.autoconfigure.EnableAutoConfiguration
 * Auto-configuration} for {@link TestLocks}.
 */
@AutoConfiguration(before = HoldfastAutoConfiguration.class)
public final class TestLocksAutoConfiguration {

	@Bean
	@Primary
	TestLockBackend testLockBackend() {
		return new TestLockBackend();
	}

	@Bean
	TestLocks testLocks(TestLockBackend backend, HoldfastProperties properties) {
		return new TestLocks(backend, properties.keyPrefix());
	}

	@Bean
	LockListener testLocksRecorder(TestLocks locks) {
		return locks.recorder;
	}

	@Bean
	SmartInitializingSingleton testLocksCommitRecorder(TestLocks locks,
			ObjectProvider<ConfigurableTransactionManager> managers) {
		return () -> managers.stream().forEach((manager) -> {
			List<TransactionExecutionListener> listeners = new ArrayList<>(manager.getTransactionExecutionListeners());
			listeners.add(0, locks.recorder);
			manager.setTransactionExecutionListeners(listeners);
		});
	}

}
