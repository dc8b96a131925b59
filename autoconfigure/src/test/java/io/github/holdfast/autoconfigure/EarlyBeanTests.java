package io.github.holdfast.autoconfigure;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.LockConfigurationException;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.Mockito.mock;

/**
 * Beans that come into being before the post-processors of this library, or in an unusual
 * order.
 */
class EarlyBeanTests {

	@Test
	void managerThatAPostProcessorNeedsIsGuarded() {
		LockedApplication.jdbc(TestDatabase.H2.newDatabase())
			.withUserConfiguration(EarlyManager.class)
			.run((context) -> {
				JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
				jdbc.execute("CREATE TABLE written (id integer)");
				TransactionTemplate transaction = new TransactionTemplate(
						context.getBean(PlatformTransactionManager.class));
				assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> context.getBean(LockTemplate.class)
					.run("key", () -> transaction.executeWithoutResult((status) -> {
						jdbc.update("INSERT INTO written VALUES (1)");
						jdbc.update("UPDATE holdfast_lock SET epoch = epoch + 1");
					})));
				assertThat(jdbc.queryForObject("SELECT count(*) FROM written", Integer.class)).isZero();
			});
	}

	@Test
	void lockedBeanThatAPostProcessorNeedsFailsTheStart() {
		LockedApplication.local()
			.withUserConfiguration(EarlyLockedBean.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(LockConfigurationException.class)
				.hasMessageContaining("'locked'")
				.hasMessageContaining("not proxied for locks"));
	}

	@Test
	void lockedBeanInACycleOfReferencesIsLocked() {
		LockedApplication.local()
			.withAllowCircularReferences(true)
			.withBean("locked", Locked.class)
			.withUserConfiguration(Cycle.class)
			.run((context) -> assertThat(context.getBean("first", First.class).isLocked()).isTrue());
	}

	@Test
	void mockOfALockedBeanIsNoMistake() {
		LockedApplication.local()
			.withInitializer((context) -> context.getBeanFactory().registerSingleton("mock", mock(Locked.class)))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void lazyInitializationCreatesTheLockTableBeforeItIsChecked() {
		LockedApplication.jdbc(TestDatabase.H2.newDatabase())
			.withPropertyValues("holdfast.jdbc.initialize-schema=embedded")
			.withInitializer(
					(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	static class Locked {

		@DistributedLock(key = "'early'")
		public boolean isLocked() {
			return LockContext.current().isPresent();
		}

	}

	static class First {

		Second second;

		@DistributedLock(key = "'first'")
		public boolean isLocked() {
			return LockContext.current().isPresent();
		}

	}

	static class Second {

		First first;

	}

	@Configuration(proxyBeanMethods = false)
	static class Cycle {

		@Bean
		First first() {
			return new First();
		}

		@Bean
		Second second() {
			return new Second();
		}

		@Bean
		static BeanPostProcessor wire(BeanFactory beans) {
			return new BeanPostProcessor() {

				@Override
				public Object postProcessBeforeInitialization(Object bean, String name) {
					if (bean instanceof First first) {
						first.second = beans.getBean(Second.class);
					}
					if (bean instanceof Second second) {
						second.first = beans.getBean(First.class);
					}
					return bean;
				}

			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class EarlyManager {

		@Bean
		static JdbcTransactionManager transactionManager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

		@Bean
		static Needy needsTheManager(PlatformTransactionManager manager) {
			return new Needy();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class EarlyLockedBean {

		@Bean
		static Locked locked() {
			return new Locked();
		}

		@Bean
		static Needy needsTheLockedBean(Locked locked) {
			return new Needy();
		}

	}

	/**
	 * Ordered, so that it comes into being before those that have no order.
	 */
	static class Needy implements BeanPostProcessor, Ordered {

		@Override
		public int getOrder() {
			return 0;
		}

	}

}
