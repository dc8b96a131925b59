package io.github.holdfast.autoconfigure;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.ContextPausedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.test.annotation.DirtiesContext.HierarchyMode;
import org.springframework.test.context.TestContextManager;

import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.WaitingCall;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Test classes of an application that need two contexts, in turns, as in any larger test
 * suite: Spring's test framework keeps both and pauses the one that is not used.
 */
@Tag("F65")
class ContextSwitchTests {

	@Test
	void callsWaitForTheirLocksInEachContextThatComesBack() throws Exception {
		try {
			assertThat(pausesAfterWaiting(First.class)).isZero();
			assertThat(pausesAfterWaiting(Second.class)).isZero();
			assertThat(pausesAfterWaiting(First.class)).isEqualTo(1);
			assertThat(pausesAfterWaiting(Second.class)).isEqualTo(1);
			assertThat(pausesAfterWaiting(First.class)).isEqualTo(2);
		}
		finally {
			close(First.class);
			close(Second.class);
		}
	}

	/**
	 * Does what JUnit does with a test class.
	 */
	@SuppressWarnings("try")
	private static int pausesAfterWaiting(Class<? extends OneTest> type) throws Exception {
		TestContextManager manager = new TestContextManager(type);
		OneTest test = type.getDeclaredConstructor().newInstance();
		manager.beforeTestClass();
		try {
			manager.prepareTestInstance(test);
			CompletableFuture<Boolean> waiter;
			try (LockTemplate.Scope scope = test.locks.acquire("key")) {
				waiter = WaitingCall.start(test.locks, "key");
			}
			assertThat(waiter.get(60, TimeUnit.SECONDS)).isTrue();
			return test.application.pauses;
		}
		finally {
			manager.afterTestClass();
		}
	}

	private static void close(Class<?> type) {
		TestContextManager manager = new TestContextManager(type);
		if (manager.getTestContext().hasApplicationContext()) {
			ConfigurableApplicationContext context = (ConfigurableApplicationContext) manager.getTestContext()
				.getApplicationContext();
			manager.getTestContext().markApplicationContextDirty(HierarchyMode.EXHAUSTIVE);
			assertThat(context.isActive()).isFalse();
		}
	}

	@SpringBootTest(classes = Application.class,
			properties = { "holdfast.wait-time=60s", "spring.datasource.url=jdbc:h2:mem:context-switch-1" })
	static class First extends OneTest {

	}

	@SpringBootTest(classes = Application.class,
			properties = { "holdfast.wait-time=60s", "spring.datasource.url=jdbc:h2:mem:context-switch-2" })
	static class Second extends OneTest {

	}

	@SuppressWarnings("NullAway.Init")
	static class OneTest {

		@Autowired
		private LockTemplate locks;

		@Autowired
		private Pauses application;

	}

	static class Pauses {

		private volatile int pauses;

		@EventListener
		void paused(ContextPausedEvent event) {
			this.pauses++;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ DataSourceAutoConfiguration.class, LockBackendAutoConfiguration.class,
			DistributedLockAutoConfiguration.class })
	static class Application {

		@Bean
		Pauses pauses() {
			return new Pauses();
		}

	}

}
