package io.github.holdfast.check;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockMode;
import io.github.holdfast.autoconfigure.LockedApplication;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.BeanCreationException;
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

	@Test
	void finalMethodFailsTheStart() {
		assertFailure(LockedApplication.local(), FinalMethod.class, "FinalMethod.lock()", "the method is final",
				"bean 'finalMethod'", "Remove 'final'");
	}

	static class FinalMethod {

		@DistributedLock(key = "'a'")
		public final void lock() {
		}

	}

	@Test
	void methodThatIsNotOnAnInterfaceOfAJdkProxyFailsTheStart() {
		assertFailure(LockedApplication.local().withPropertyValues("spring.aop.proxy-target-class=false"),
				NotOnInterface.class, "bean 'notOnInterface'", "is not on an interface",
				"'spring.aop.proxy-target-class' to 'true'");
	}

	static class NotOnInterface implements Runnable {

		@DistributedLock(key = "'a'")
		public void lock() {
		}

		@Override
		public void run() {
		}

	}

	@ParameterizedTest
	@ValueSource(strings = { "transaction", "lease" })
	void sharedModeOnADatabaseFailsTheStart(String mode) {
		assertFailure(LockedApplication.h2().withPropertyValues("holdfast.jdbc.mode=" + mode), SharedMode.class,
				"SharedMode.lock()", "SHARED", "backend 'jdbc'", "'redis', 'redisson', 'zookeeper' or 'etcd'",
				"or remove 'mode'");
	}

	static class SharedMode {

		@DistributedLock(key = "'a'", mode = LockMode.SHARED)
		public void lock() {
		}

	}

	@Test
	void fairOrderOnADatabaseFailsTheStart() {
		assertFailure(LockedApplication.h2(), FairOrder.class, "FAIR", "backend 'jdbc'",
				"'redis', 'redisson', 'zookeeper' or 'etcd'");
	}

	@ParameterizedTest
	@ValueSource(classes = { SharedMode.class, FairOrder.class })
	void modeThatTheBackendOffersIsAccepted(Class<?> bean) {
		LockedApplication.local().withBean(bean).run((context) -> assertThat(context).hasNotFailed());
	}

	static class FairOrder {

		@DistributedLock(key = "'a'", fair = true)
		public void lock() {
		}

	}

	@Test
	void optimisticModeWithoutVersionsFailsTheStart() {
		String[] text = { "OptimisticMode.lock()", "'holdfast.backend: jdbc' and 'holdfast.commit-guard: fence'",
				"Set both properties, or" };
		assertFailure(LockedApplication.local(), OptimisticMode.class, text);
		assertFailure(LockedApplication.h2().withPropertyValues("holdfast.commit-guard=lease"), OptimisticMode.class,
				text);
		assertFailure(
				LockedApplication.h2().withPropertyValues("holdfast.backend=local", "holdfast.commit-guard=fence"),
				OptimisticMode.class, text);
	}

	@Test
	void optimisticModeAtFenceIsAccepted() {
		LockedApplication.h2().withBean(OptimisticMode.class).run((context) -> {
			assertThat(context).hasNotFailed();
			context.getBean(OptimisticMode.class).lock();
		});
	}

	static class OptimisticMode {

		@DistributedLock(key = "'a'", mode = LockMode.OPTIMISTIC)
		@Transactional
		public void lock() {
		}

	}

	@Test
	void lockInsideOfTheTransactionFailsTheStart() {
		assertFailure(LockedApplication.h2().withUserConfiguration(OuterTransaction.class), Both.class, "bean 'both'",
				"Both.lock()", "would be released before the commit", "'holdfast.order'",
				"@EnableTransactionManagement");
	}

	@Test
	void orderOfThePropertyPutsTheLockOutside() {
		LockedApplication.h2()
			.withUserConfiguration(OuterTransaction.class)
			.withPropertyValues("holdfast.order=-1")
			.withBean(Both.class)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void lockWithoutTransactionIsAcceptedWhateverTheOrder() {
		LockedApplication.h2()
			.withUserConfiguration(OuterTransaction.class)
			.withBean(FairlyPlain.class)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@EnableTransactionManagement(order = 0)
	static class OuterTransaction {

	}

	static class Both {

		@DistributedLock(key = "'a'")
		@Transactional
		public void lock() {
		}

	}

	static class FairlyPlain {

		@DistributedLock(key = "'a'")
		public void lock() {
		}

		@Transactional
		public void other() {
		}

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
	void lazyBeanIsCheckedWhenItIsCreated() {
		LockedApplication.h2()
			.withBean(SharedMode.class, SharedMode::new, (definition) -> definition.setLazyInit(true))
			.run((context) -> assertThatExceptionOfType(BeanCreationException.class)
				.isThrownBy(() -> context.getBean(SharedMode.class))
				.withRootCauseInstanceOf(UnsupportedOperationException.class));
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

	private static void assertFailure(ApplicationContextRunner application, Class<?> bean, String... text) {
		String name = Character.toLowerCase(bean.getSimpleName().charAt(0)) + bean.getSimpleName().substring(1);
		LockedApplication.assertRefused(application.withBean(name, bean), text);
	}

}
