package io.github.holdfast.check;

import java.util.stream.Stream;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockMode;
import io.github.holdfast.autoconfigure.LockedApplication;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.samples.Clinic;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.security.authorization.AuthorizationDeniedException;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.config.annotation.method.configuration.EnableMethodSecurity;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Beans whose locks cannot work, and what the startup reports about them. */
class LockedBeanCheckTests {

	@ParameterizedTest(name = "{0}")
	@MethodSource
	void lockThatCannotWorkFailsTheStart(Class<?> bean, ApplicationContextRunner application, String... text) {
		LockedApplication.assertRefused(application.withBean("stock", bean), text);
	}

	static Stream<Arguments> lockThatCannotWorkFailsTheStart() {
		String backends = "'redis', 'redisson', 'zookeeper' or 'etcd'";
		String[] optimistic = { "OptimisticMode.lock()", "'holdfast.backend: jdbc' and 'holdfast.commit-guard: fence'",
				"Set both properties, or" };
		return Stream.of(
				refused(FinalMethod.class, LockedApplication.local(), "FinalMethod.lock()", "the method is final",
						"bean 'stock'", "Remove 'final'"),
				refused(NotOnInterface.class,
						LockedApplication.local().withPropertyValues("spring.aop.proxy-target-class=false"),
						"bean 'stock'", "is not on an interface", "'spring.aop.proxy-target-class' to 'true'"),
				refused(FallbackNotOnInterface.class,
						LockedApplication.local().withPropertyValues("spring.aop.proxy-target-class=false"),
						"bean 'stock'", "its fallback is not on an interface"),
				refused(Clinic.class, LockedApplication.local(), "bean 'stock'", "Clinic.visitAll calls"),
				refused(SharedMode.class, LockedApplication.h2(), "SharedMode.lock()", "SHARED", "backend 'jdbc'",
						backends, "or remove 'mode'"),
				refused(SharedMode.class, LockedApplication.h2().withPropertyValues("holdfast.jdbc.mode=lease"),
						"SharedMode.lock()", "SHARED", "backend 'jdbc'", backends, "or remove 'mode'"),
				refused(FairOrder.class, LockedApplication.h2(), "FAIR", "backend 'jdbc'", backends),
				refused(OptimisticMode.class, LockedApplication.local(), optimistic),
				refused(OptimisticMode.class, LockedApplication.h2().withPropertyValues("holdfast.commit-guard=lease"),
						optimistic),
				refused(OptimisticMode.class,
						LockedApplication.h2()
							.withPropertyValues("holdfast.backend=local", "holdfast.commit-guard=fence"),
						optimistic),
				refused(WithTransaction.class, LockedApplication.h2().withUserConfiguration(OuterTransaction.class),
						"bean 'stock'", "WithTransaction.lock()", "would be released before the commit",
						"'holdfast.order'", "@EnableTransactionManagement"));
	}

	private static Arguments refused(Class<?> bean, ApplicationContextRunner application, String... text) {
		return Arguments.of(bean, application, text);
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource
	void lockThatWorksIsAccepted(Class<?> bean, ApplicationContextRunner application) {
		application.withBean(bean).run((context) -> assertThat(context).hasNotFailed());
	}

	static Stream<Arguments> lockThatWorksIsAccepted() {
		ApplicationContextRunner outer = LockedApplication.h2().withUserConfiguration(OuterTransaction.class);
		return Stream.of(Arguments.of(SharedMode.class, LockedApplication.local()),
				Arguments.of(FairOrder.class, LockedApplication.local()),
				Arguments.of(OptimisticMode.class, LockedApplication.h2()),
				Arguments.of(WithTransaction.class, outer.withPropertyValues("holdfast.order=-1")),
				Arguments.of(BesideATransaction.class, outer));
	}

	static class FinalMethod {

		@DistributedLock(key = "'a'")
		public final void lock() {
		}

	}

	static class NotOnInterface implements Runnable {

		@DistributedLock(key = "'a'")
		public void lock() {
		}

		@Override
		public void run() {
		}

	}

	static class FallbackNotOnInterface implements Runnable {

		@Override
		@DistributedLock(key = "'a'", fallbackMethod = "later")
		public void run() {
		}

		public void later() {
		}

	}

	static class SharedMode {

		@DistributedLock(key = "'a'", mode = LockMode.SHARED)
		public void lock() {
		}

	}

	static class FairOrder {

		@DistributedLock(key = "'a'", fair = true)
		public void lock() {
		}

	}

	static class OptimisticMode {

		@DistributedLock(key = "'a'", mode = LockMode.OPTIMISTIC)
		@Transactional
		public void lock() {
		}

	}

	static class WithTransaction {

		@DistributedLock(key = "'a'")
		@Transactional
		public void lock() {
		}

	}

	static class BesideATransaction {

		@DistributedLock(key = "'a'")
		public void lock() {
		}

		@Transactional
		public void other() {
		}

	}

	@EnableTransactionManagement(order = 0)
	static class OuterTransaction {

	}

	/** The order that the message advises. */
	@Test
	void deniedCallerTakesNoLock() {
		LockedApplication.h2()
			.withUserConfiguration(SecuredTransaction.class)
			.withPropertyValues("holdfast.order=449")
			.withBean(Secured.class)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				SecurityContextHolder.getContext()
					.setAuthentication(new TestingAuthenticationToken("guest", "guest", "ROLE_GUEST"));
				try {
					Secured secured = context.getBean(Secured.class);
					assertThatExceptionOfType(AuthorizationDeniedException.class).isThrownBy(() -> secured.lock("A"));
					assertThat(secured.evaluated).isFalse();
				}
				finally {
					SecurityContextHolder.clearContext();
				}
			});
	}

	@EnableMethodSecurity
	@EnableTransactionManagement(order = 450)
	static class SecuredTransaction {

	}

	static class Secured {

		private boolean evaluated;

		@PreAuthorize("hasRole('ADMIN')")
		@DistributedLock(key = "@secured.evaluate(#sku)")
		@Transactional
		public void lock(String sku) {
		}

		public String evaluate(String sku) {
			this.evaluated = true;
			return sku;
		}

	}

	@Test
	void methodIsRememberedOnce() {
		LockedApplication.local().withBean(FairOrder.class).run((context) -> {
			for (int i = 0; i < 100; i++) {
				context.getAutowireCapableBeanFactory().createBean(FairOrder.class);
			}
			assertThat(context.getBean(LockedBeanCheck.class).operations()).hasSize(1);
		});
	}

}
