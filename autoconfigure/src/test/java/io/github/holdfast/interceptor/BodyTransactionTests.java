package io.github.holdfast.interceptor;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockBackend;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockRequest;
import io.github.holdfast.core.BodyTransaction;
import io.github.holdfast.core.LockCall;
import io.github.holdfast.core.LockGuard;
import io.github.holdfast.core.LockManager;
import io.github.holdfast.core.LockSettings;
import io.github.holdfast.store.local.LocalLockBackend;
import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.NameMatchMethodPointcutAdvisor;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.TransactionManagementConfigurer;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** What is known of the transaction of a locked method before its first call. */
class BodyTransactionTests {

	private final TestGuard guard = new TestGuard();

	private final TestTransactionManager manager = new TestTransactionManager();

	private final ApplicationContextRunner application = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class))
		.withUserConfiguration(Locks.class, Transactions.class)
		.withBean("transactionManager", TestTransactionManager.class, () -> this.manager)
		.withBean(LockGuard.class, () -> this.guard)
		.withBean("service", Service.class);

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void transactionRightBehindTheLockIsInnermost(boolean classProxy) {
		this.application.withPropertyValues("spring.aop.proxy-target-class=" + classProxy).run((context) -> {
			Stock service = context.getBean(Stock.class);
			service.transactional();
			assertThat(this.guard.transaction()).satisfies((transaction) -> {
				assertThat(transaction.innermost()).isTrue();
				assertThat(transaction.definition().getPropagationBehavior())
					.isEqualTo(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
				assertThat((Object) transaction.manager()).isSameAs(this.manager);
			});
			assertThat(context.getBean(LockOperationSource.class).getAll(service)).anySatisfy((operation) -> {
				assertThat(operation.method().getName()).isEqualTo("transactional");
				assertThat(operation.settings().transaction()).isSameAs(this.guard.transaction());
			});
		});
	}

	@Test
	void methodWithoutTransactionHasNone() {
		this.application.run((context) -> {
			context.getBean(Stock.class).plain();
			assertThat(this.guard.settings).singleElement()
				.satisfies((settings) -> assertThat(settings.transaction()).isNull());
		});
	}

	@Test
	void transactionOutsideOfTheLockIsNotInnermost() {
		this.application.withPropertyValues("holdfast.order=" + Integer.MAX_VALUE)
			.withUserConfiguration(OuterTransactions.class)
			.run((context) -> {
				context.getBean(Stock.class).transactional();
				assertThat(this.guard.transaction().innermost()).isFalse();
			});
	}

	@Test
	void adviceOfOthersBetweenLockAndTransactionCountsForTheMethodsThatHaveIt() {
		this.application.withPropertyValues("holdfast.order=100")
			.withUserConfiguration(LateTransactions.class)
			.withBean(NameMatchMethodPointcutAdvisor.class, () -> between("transactional"))
			.run((context) -> {
				Stock service = context.getBean(Stock.class);
				service.transactional();
				assertThat(this.guard.transaction().innermost()).isFalse();
				assertThat(this.guard.transaction().suspends()).isTrue();
				service.other();
				assertThat(this.guard.transaction().innermost()).isTrue();
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
	void transactionInAnotherProxyIsNotInnermost() {
		this.application.withBean(Splitter.class).run((context) -> {
			context.getBean(Stock.class).transactional();
			assertThat(this.guard.transaction().innermost()).isFalse();
		});
	}

	@Test
	void transactionInAFrozenProxyIsNotInnermostWhateverOtherBeansOfTheClassHave() {
		this.application.withBean("frozen", Service.class).withBean(Freezer.class).run((context) -> {
			Stock frozen = context.getBean("frozen", Stock.class);
			assertThat(((Advised) frozen).isFrozen()).isTrue();
			context.getBean("service", Stock.class).transactional();
			assertThat(this.guard.transaction().innermost()).isTrue();
			frozen.transactional();
			assertThat(this.guard.transaction().innermost()).isFalse();
		});
	}

	@Test
	void prototypesShareOneTransaction() {
		this.application
			.withBean("prototype", Service.class, Service::new,
					(definition) -> definition.setScope(BeanDefinition.SCOPE_PROTOTYPE))
			.run((context) -> {
				context.getBean("prototype", Stock.class).transactional();
				BodyTransaction first = this.guard.transaction();
				assertThat(first.innermost()).isTrue();
				context.getBean("prototype", Stock.class).transactional();
				assertThat(this.guard.transaction()).isSameAs(first);
			});
	}

	@Test
	void managerIsTheOneThatTheAnnotationNames() {
		TestTransactionManager other = new TestTransactionManager();
		this.application.withBean("other", TestTransactionManager.class, () -> other).run((context) -> {
			context.getBean(Stock.class).named();
			assertThat((Object) this.guard.transaction().manager()).isSameAs(other);
			assertThat(other.begun).isOne();
		});
	}

	@Test
	void managerIsTheConfiguredOne() {
		TestTransactionManager other = new TestTransactionManager();
		this.application.withBean("other", TestTransactionManager.class, () -> other)
			.withBean(TransactionManagementConfigurer.class, () -> () -> other)
			.run((context) -> {
				context.getBean(Stock.class).transactional();
				assertThat((Object) this.guard.transaction().manager()).isSameAs(other);
				assertThat(other.begun).isOne();
			});
	}

	@Test
	void bodyBeginsAgainInANewTransactionAfterAFailedClaim() {
		this.guard.protection = LockGuard.Protection.TRANSACTION;
		this.manager.refused = 2;
		this.application.run((context) -> {
			assertThat(context.getBean(Stock.class).transactional()).isEqualTo("done [stock]");
			assertThat(this.manager.begun).isEqualTo(3);
			assertThat(this.manager.committed).isOne();
			assertThat(context.getBean(Stock.class).calls()).isOne();
		});
	}

	@Test
	void bodyDoesNotRunInATransactionThatHasNotTakenTheLock() {
		this.guard.protection = LockGuard.Protection.TRANSACTION;
		this.manager.takes = false;
		this.application.run((context) -> {
			assertThatIllegalStateException().isThrownBy(context.getBean(Stock.class)::transactional)
				.withMessageContaining("the transaction has begun without it");
			assertThat(context.getBean(Stock.class).calls()).isZero();
			assertThat(this.manager.committed).isZero();
		});
	}

	@Test
	void optimisticBodyRunsAgainAfterAConflict() {
		this.manager.conflicts = 2;
		this.application.run((context) -> {
			assertThat(context.getBean(Stock.class).optimistic("a")).isEqualTo("done a");
			assertThat(context.getBean(Stock.class).calls()).isEqualTo(3);
			assertThat(this.manager.begun).isEqualTo(3);
		});
	}

	interface Stock {

		int calls();

		String transactional();

		void other();

		void plain();

		void named();

		String optimistic(String value);

	}

	static class Service implements Stock {

		private int calls;

		@Override
		public int calls() {
			return this.calls;
		}

		@Override
		@DistributedLock("'stock'")
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public String transactional() {
			this.calls++;
			return "done " + LockContext.current().orElseThrow().keys();
		}

		@Override
		@DistributedLock("'other'")
		@Transactional
		public void other() {
		}

		@Override
		@DistributedLock("'plain'")
		public void plain() {
		}

		@Override
		@DistributedLock("'named'")
		@Transactional("other")
		public void named() {
		}

		@Override
		@DistributedLock(key = "'optimistic'", mode = LockMode.OPTIMISTIC, waitTime = "10s")
		@Transactional
		public String optimistic(String value) {
			this.calls++;
			return "done " + value;
		}

	}

	/** Without the checks at startup, which refuse some of this. */
	@Configuration(proxyBeanMethods = false)
	static class Locks {

		@Bean
		static LockManager lockManager(LockGuard guard) {
			LockBackend backend = new LocalLockBackend();
			return new LockManager(() -> backend, () -> guard, List::of, (name) -> null, Duration.ZERO);
		}

		@Bean
		static LockOperationSource lockOperationSource(ObjectProvider<LockManager> manager,
				ObjectProvider<TransactionAspectSupport> transactions, ConfigurableListableBeanFactory beanFactory) {
			return new LockOperationSource(manager::getObject, () -> LockSettings.DEFAULT, transactions::getIfUnique,
					beanFactory);
		}

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static DistributedLockAdvisor distributedLockAdvisor(LockOperationSource source, Environment environment) {
			return new DistributedLockAdvisor(source,
					environment.getProperty("holdfast.order", Integer.class, DistributedLockAdvisor.DEFAULT_ORDER));
		}

		@Bean
		static ClaimPostProcessor claimPostProcessor(LockOperationSource source) {
			return new ClaimPostProcessor(source);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	static class Transactions {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement(order = 1)
	static class OuterTransactions {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement(order = 200)
	static class LateTransactions {

	}

	/** Makes the proxies of beans anew, in another way than Spring's creator does. */
	abstract static class ProxyMaker implements BeanPostProcessor, Ordered {

		@Override
		public int getOrder() {
			return LOWEST_PRECEDENCE;
		}

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			return (bean instanceof Stock && bean instanceof Advised advised) ? proxy(advised, beanName) : bean;
		}

		abstract Object proxy(Advised advised, String beanName);

		static ProxyFactory factory(@Nullable Object target) {
			ProxyFactory factory = new ProxyFactory();
			factory.setTarget(Objects.requireNonNull(target));
			factory.setProxyTargetClass(true);
			return factory;
		}

	}

	static class Freezer extends ProxyMaker {

		@Override
		Object proxy(Advised advised, String beanName) {
			ProxyFactory factory = factory(AopProxyUtils.getSingletonTarget(advised));
			factory.addAdvisors(advised.getAdvisors());
			factory.setFrozen(beanName.equals("frozen"));
			return factory.getProxy();
		}

	}

	static class Splitter extends ProxyMaker {

		@Override
		Object proxy(Advised advised, String beanName) {
			ProxyFactory inner = factory(AopProxyUtils.getSingletonTarget(advised));
			Arrays.stream(advised.getAdvisors())
				.filter((advisor) -> !(advisor instanceof DistributedLockAdvisor))
				.forEach(inner::addAdvisor);
			ProxyFactory outer = factory(inner.getProxy());
			Arrays.stream(advised.getAdvisors())
				.filter(DistributedLockAdvisor.class::isInstance)
				.forEach(outer::addAdvisor);
			return outer.getProxy();
		}

	}

	static class TestGuard implements LockGuard {

		final List<LockSettings> settings = new ArrayList<>();

		Protection protection = Protection.LEASE;

		BodyTransaction transaction() {
			BodyTransaction transaction = this.settings.get(this.settings.size() - 1).transaction();
			assertThat(transaction).isNotNull();
			return transaction;
		}

		@Override
		public Protection protectionOf(LockSettings settings) {
			this.settings.add(settings);
			return this.protection;
		}

		@Override
		public PendingLease pending(LockRequest request) {
			return new TestLease();
		}

		@Override
		public LockBackend.Lease version(LockRequest request) {
			return new TestLease();
		}

	}

	static class TestLease implements LockGuard.PendingLease {

		boolean taken;

		@Override
		public boolean awaitAttempt(long nanos) {
			return true;
		}

		@Override
		public boolean isTaken() {
			return this.taken;
		}

		@Override
		public long epoch() {
			return 1;
		}

		@Override
		public long sentAt() {
			return System.nanoTime();
		}

		@Override
		public CompletionStage<Boolean> renew(Duration leaseTime) {
			return CompletableFuture.completedFuture(true);
		}

		@Override
		public CompletionStage<Boolean> release() {
			return CompletableFuture.completedFuture(true);
		}

		@Override
		public boolean expires() {
			return false;
		}

	}

	/** Takes pending locks as the first statement of a transaction would. */
	static class TestTransactionManager extends AbstractPlatformTransactionManager {

		private static final long serialVersionUID = 1L;

		int begun;

		int committed;

		int refused;

		int conflicts;

		boolean takes = true;

		@Override
		protected Object doGetTransaction() {
			return new Object();
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
			this.begun++;
			LockCall call = LockCall.current();
			if (call != null && this.refused-- > 0) {
				call.claimFailed(new LockCall.ClaimFailure(new LockGuard.NotTakenException(call, () -> {
				})));
			}
			else if (call != null && this.takes && call.grants().get(0).lease() instanceof TestLease lease) {
				lease.taken = true;
			}
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
			LockCall call = LockCall.current();
			if (call != null && this.conflicts-- > 0) {
				call.conflict();
			}
			else if (call != null) {
				this.committed++;
				call.committed();
			}
		}

		@Override
		protected void doRollback(DefaultTransactionStatus status) {
		}

	}

}
