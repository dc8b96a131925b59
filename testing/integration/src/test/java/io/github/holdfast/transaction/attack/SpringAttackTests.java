package io.github.holdfast.transaction.attack;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.aop.Advisor;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.holdfast.LockMode;
import io.github.holdfast.LockTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Attacks by what Spring calls before the body of a method. */
@Timeout(180)
class SpringAttackTests {

	private static final ThreadLocal<Integer> READ = new ThreadLocal<>();

	/** Attack 8. Red if our listener is not the first one. H2 polls, so needs luck. */
	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
	void listenerReadsWhenATransactionBeginsBeforeItHasTheLock(Database database) {
		try (Nodes nodes = new Nodes(database, ReadingListener.class)) {
			sellAfter(nodes, () -> nodes.first.shop().locked(() -> nodes.first.insertAfter(READ.get())));
		}
	}

	/** Attack 14. Red if another advice between lock and transaction is overlooked. */
	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
	void adviceBetweenLockAndTransactionReadsBeforeTheLock(Database database) {
		try (Nodes nodes = new Nodes(database, ReadingAdvice.class, "holdfast.order=100")) {
			sellAfter(nodes, () -> nodes.first.shop().advised(() -> nodes.first.insertAfter(READ.get())));
		}
	}

	/** Attack 14. Red (no start) if a frozen proxy is to get the advice that claims. */
	@ParameterizedTest
	@EnumSource
	void frozenProxyHasNoAdviceThatClaims(Database database) {
		try (Nodes nodes = new Nodes(database, FrozenProxies.class)) {
			nodes.first.shop().locked(() -> {
				nodes.first.sell();
				assertThat(nodes.leases()).isOne();
			});
			nodes.second.shop().locked(nodes.second::sell);
			assertThat(nodes.sales()).containsExactly(1, 2);
		}
	}

	/**
	 * Spring does not roll back then. Red if its clean-up commits what was not checked.
	 */
	@ParameterizedTest
	@EnumSource
	void callbackFailsBeforeTheCommitIsChecked(Database database) {
		try (Nodes nodes = new Nodes(database, Nodes.ALONE)) {
			LockTemplate optimistic = nodes.first.context().getBean(LockTemplate.class).withMode(LockMode.OPTIMISTIC);
			assertThatExceptionOfType(CannotCreateTransactionException.class).isThrownBy(
					() -> optimistic.run("stock", () -> nodes.first.transaction().executeWithoutResult((status) -> {
						nodes.first.sell();
						TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

							@Override
							public void beforeCommit(boolean readOnly) {
								throw new CannotCreateTransactionException("no connection for an inner one");
							}

						});
					})));
			assertThat(nodes.sales()).isEmpty();
		}
	}

	/** Lets a call of the first node wait for a sale of the second one. */
	private static void sellAfter(Nodes nodes, Runnable call) {
		CountDownLatch held = new CountDownLatch(1);
		CountDownLatch waiting = new CountDownLatch(1);
		CompletableFuture<Void> holder = Nodes.async(() -> nodes.second.shop().locked(() -> {
			held.countDown();
			Nodes.await(waiting);
			nodes.second.sell();
		}));
		Nodes.await(held);
		CompletableFuture<Void> waiter = Nodes.async(call);
		nodes.awaitBlockedOr(waiter::isDone);
		waiting.countDown();
		holder.join();
		waiter.join();
		assertThat(nodes.sales()).containsExactly(1, 2);
	}

	private static void read(ObjectProvider<JdbcTemplate> jdbc) {
		READ.set(jdbc.getObject().queryForObject("SELECT count(*) FROM sale", Integer.class));
	}

	@Configuration(proxyBeanMethods = false)
	static class ReadingListener {

		@Bean
		TransactionExecutionListener readingListener(ObjectProvider<JdbcTemplate> jdbc) {
			return new TransactionExecutionListener() {

				@Override
				public void afterBegin(TransactionExecution transaction, Throwable beginFailure) {
					read(jdbc);
				}

			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ReadingAdvice {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static Advisor readingAdvisor(ObjectProvider<JdbcTemplate> jdbc) {
			NameMatchMethodPointcut pointcut = new NameMatchMethodPointcut();
			pointcut.addMethodName("advised");
			DefaultPointcutAdvisor advisor = new DefaultPointcutAdvisor(pointcut, (MethodInterceptor) (invocation) -> {
				read(jdbc);
				return invocation.proceed();
			});
			advisor.setOrder(200);
			return advisor;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class FrozenProxies {

		@Bean
		static BeanFactoryPostProcessor freezing() {
			return (beanFactory) -> beanFactory.getBeanDefinition(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME)
				.getPropertyValues()
				.add("frozen", true);
		}

	}

}
