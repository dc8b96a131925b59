package io.github.holdfast.interceptor;

import java.util.Arrays;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Predicate;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockContext;
import io.github.holdfast.autoconfigure.LockedApplication;
import io.github.holdfast.core.LockSettings.BodyTransaction;
import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.NameMatchMethodPointcutAdvisor;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.DependsOn;
import org.springframework.context.annotation.Primary;
import org.springframework.core.Ordered;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.TransactionManagementConfigurer;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.interceptor.TransactionInterceptor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** What is known of the transaction of a locked method before its first call. */
class BodyTransactionTests {

	private final ApplicationContextRunner application = LockedApplication.h2().withBean("stock", StockService.class);

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void transactionRightBehindTheLockIsInnermostAndTakesIt(boolean classProxy) {
		this.application.withPropertyValues("spring.aop.proxy-target-class=" + classProxy).run((context) -> {
			Stock stock = context.getBean(Stock.class);
			BodyTransaction transaction = transaction(context, stock, "transactional");
			assertThat(transaction.innermost()).isTrue();
			assertThat(transaction.suspends()).isTrue();
			assertThat(transaction.definition().getPropagationBehavior())
				.isEqualTo(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
			assertThat((Object) transaction.manager().get()).isSameAs(context.getBean(TransactionManager.class));
			assertThat(stock.transactional()).isTrue();
		});
	}

	@Test
	void methodWithoutTransactionHasNone() {
		this.application.run((context) -> {
			Stock stock = context.getBean(Stock.class);
			assertThat(find(context, stock, "plain")).isNull();
			assertThat(stock.plain()).isFalse();
		});
	}

	@Test
	void adviceOfOthersBetweenLockAndTransactionCountsForTheMethodsThatHaveIt() {
		this.application.withPropertyValues("holdfast.order=100")
			.withUserConfiguration(LateTransactions.class)
			.withBean(NameMatchMethodPointcutAdvisor.class, () -> between("transactional"))
			.run((context) -> {
				Stock stock = context.getBean(Stock.class);
				assertThat(transaction(context, stock, "transactional").innermost()).isFalse();
				assertThat(stock.transactional()).isFalse();
				assertThat(transaction(context, stock, "other").innermost()).isTrue();
				assertThat(stock.other()).isTrue();
			});
	}

	private static NameMatchMethodPointcutAdvisor between(String method) {
		NameMatchMethodPointcutAdvisor advisor = new NameMatchMethodPointcutAdvisor(
				(MethodInterceptor) (invocation) -> invocation.proceed());
		advisor.setMappedName(method);
		advisor.setOrder(150);
		return advisor;
	}

	@Test
	void transactionInAnotherProxyIsNotInnermostWhateverOtherBeansOfTheClassHave() {
		this.application.withBean("split", StockService.class).withBean(Splitter.class).run((context) -> {
			Stock stock = context.getBean("stock", Stock.class);
			Stock split = context.getBean("split", Stock.class);
			assertThat(transaction(context, stock, "transactional").innermost()).isTrue();
			assertThat(stock.transactional()).isTrue();
			assertThat(transaction(context, split, "transactional").innermost()).isFalse();
			assertThat(split.transactional()).isFalse();
		});
	}

	@Test
	void prototypesShareOneTransaction() {
		this.application
			.withBean("prototype", StockService.class, StockService::new,
					(definition) -> definition.setScope(BeanDefinition.SCOPE_PROTOTYPE))
			.run((context) -> {
				BodyTransaction first = transaction(context, context.getBean("prototype"), "transactional");
				assertThat(first.innermost()).isTrue();
				assertThat(transaction(context, context.getBean("prototype"), "transactional")).isSameAs(first);
			});
	}

	/** Inserting the row of a new key ends its first transaction. */
	@Test
	void bodyBeginsAgainInANewTransactionOfTheManagerThatTheAnnotationNames() {
		this.application.withUserConfiguration(Managers.class).run((context) -> {
			TestTransactionManager other = context.getBean("other", TestTransactionManager.class);
			Stock stock = context.getBean(Stock.class);
			assertThat((Object) transaction(context, stock, "named").manager().get()).isSameAs(other);
			assertThat(stock.named()).isTrue();
			assertThat(other.begun).isEqualTo(2);
			assertThat(stock.calls()).isOne();
		});
	}

	/** Spring creates the manager of a configurer before it creates post-processors. */
	@Test
	void managerIsTheConfiguredOne() {
		this.application.withUserConfiguration(Managers.class, OtherByDefault.class).run((context) -> {
			TestTransactionManager other = context.getBean("other", TestTransactionManager.class);
			Stock stock = context.getBean(Stock.class);
			assertThat((Object) transaction(context, stock, "transactional").manager().get()).isSameAs(other);
			assertThat(stock.transactional()).isTrue();
			assertThat(other.begun).isEqualTo(2);
		});
	}

	@Test
	void poolWithoutAutoCommitThatIsCreatedAsEarlyIsolatesItsQueries() {
		this.application.withUserConfiguration(Managers.class, OtherByDefault.class)
			.withPropertyValues("spring.datasource.hikari.auto-commit=false")
			.run((context) -> {
				assertThat(context.getBean(HikariDataSource.class).isIsolateInternalQueries()).isTrue();
				assertThat(context.getBean(Stock.class).transactional()).isTrue();
			});
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void poolWithoutAutoCommitThatIsRunningMustIsolateItsQueries(boolean isolated) {
		this.application.withBean(HikariDataSource.class, () -> running(isolated)).run((context) -> {
			if (isolated) {
				assertThat(context.getBean(Stock.class).transactional()).isTrue();
			}
			else {
				LockedApplication.assertRefused(context.getStartupFailure(),
						"hands out connections without auto-commit", "isolate-internal-queries");
			}
		});
	}

	private static HikariDataSource running(boolean isolated) {
		HikariConfig config = new HikariConfig();
		config.setJdbcUrl("jdbc:h2:mem:" + UUID.randomUUID());
		config.setAutoCommit(false);
		config.setIsolateInternalQueries(isolated);
		return new HikariDataSource(config);
	}

	@ParameterizedTest
	@ValueSource(classes = { Managers.class, OtherByDefault.class })
	void callBeforeTheApplicationHasStartedIsRefused(Class<?> configuration) {
		this.application.withUserConfiguration(Managers.class, configuration)
			.withUserConfiguration(EarlyCaller.class)
			.run((context) -> assertThat(context).getFailure()
				.hasRootCauseInstanceOf(IllegalStateException.class)
				.rootCause()
				.hasMessageContaining("is used under a lock before the application has started"));
	}

	@Test
	void bodyDoesNotRunInATransactionThatHasNotTakenTheLock() {
		this.application.run((context) -> {
			Stock stock = context.getBean(Stock.class);
			assertThat(stock.transactional()).isTrue();
			TestTransactionManager unexpected = new TestTransactionManager(context.getBean(DataSource.class));
			context.getBean(TransactionInterceptor.class).setTransactionManager(unexpected);
			assertThatIllegalStateException().isThrownBy(stock::transactional)
				.withMessageContaining("the transaction has begun without it");
			assertThat(unexpected.begun).isOne();
			assertThat(stock.calls()).isOne();
		});
	}

	private static BodyTransaction transaction(ApplicationContext context, Object bean, String method) {
		BodyTransaction transaction = find(context, bean, method);
		assertThat(transaction).isNotNull();
		return transaction;
	}

	private static @Nullable BodyTransaction find(ApplicationContext context, Object bean, String method) {
		return context.getBean(LockOperationSource.class)
			.getAll(bean)
			.stream()
			.filter((operation) -> operation.method().getName().equals(method))
			.findFirst()
			.orElseThrow()
			.settings()
			.transaction();
	}

	/** The methods return whether their transaction has the lock, instead of a lease. */
	interface Stock {

		int calls();

		boolean transactional();

		boolean other();

		boolean plain();

		boolean named();

	}

	static class StockService implements Stock {

		private int calls;

		@Override
		public int calls() {
			return this.calls;
		}

		@Override
		@DistributedLock("'stock'")
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public boolean transactional() {
			return called();
		}

		@Override
		@DistributedLock("'other'")
		@Transactional
		public boolean other() {
			return called();
		}

		@Override
		@DistributedLock("'plain'")
		public boolean plain() {
			return called();
		}

		@Override
		@DistributedLock("'named'")
		@Transactional("other")
		public boolean named() {
			return called();
		}

		private boolean called() {
			this.calls++;
			return LockContext.current().orElseThrow().remaining() == null;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement(order = 200)
	static class LateTransactions {

	}

	@Configuration(proxyBeanMethods = false)
	static class Managers {

		@Bean
		@Primary
		TestTransactionManager transactionManager(DataSource dataSource) {
			return new TestTransactionManager(dataSource);
		}

		@Bean
		TestTransactionManager other(DataSource dataSource) {
			return new TestTransactionManager(dataSource);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OtherByDefault {

		@Bean
		static TransactionManagementConfigurer configurer(
				@Qualifier("other") ObjectProvider<TestTransactionManager> other) {
			return other::getObject;
		}

	}

	/** Calls a locked method while beans are still created. */
	@DependsOn("lockSchemaInitializer")
	static class EarlyCaller {

		EarlyCaller(Stock stock) {
			stock.transactional();
		}

	}

	/** Counts its transactions. */
	static class TestTransactionManager extends JdbcTransactionManager {

		private static final long serialVersionUID = 1L;

		private int begun;

		TestTransactionManager(DataSource dataSource) {
			super(dataSource);
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
			this.begun++;
			super.doBegin(transaction, definition);
		}

	}

	/** Makes two proxies of a bean, one inside of the other. */
	static class Splitter implements BeanPostProcessor, Ordered {

		@Override
		public int getOrder() {
			return LOWEST_PRECEDENCE;
		}

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			if (!beanName.equals("split")) {
				return bean;
			}
			Advisor[] advisors = ((Advised) bean).getAdvisors();
			Predicate<Advisor> isLock = DistributedLockAdvisor.class::isInstance;
			Object inner = proxy(AopProxyUtils.getSingletonTarget(bean), advisors, isLock.negate());
			return proxy(inner, advisors, isLock);
		}

		private static Object proxy(@Nullable Object target, Advisor[] advisors, Predicate<Advisor> predicate) {
			ProxyFactory factory = new ProxyFactory();
			factory.setTarget(Objects.requireNonNull(target));
			factory.setProxyTargetClass(true);
			Arrays.stream(advisors).filter(predicate).forEach(factory::addAdvisor);
			return factory.getProxy();
		}

	}

}
