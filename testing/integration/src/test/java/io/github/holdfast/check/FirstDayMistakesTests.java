package io.github.holdfast.check;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockConfigurationException;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * What is easily done wrong on the first day: when it is noticed, and that the message
 * tells the cause and the remedy. Most are noticed at the start; none does its work
 * without a lock in silence. Variants of each are in the tests of its subject, and those
 * that need more than a small application are only there: entities from before the lock
 * in {@code StaleContextTests}, a pool whose time-outs outlast a lease in
 * {@code StrictConfigurationTests}, parameters without names in
 * {@link LockStartFailureTests}, a second database in {@code SeveralDataSourcesTests}, a
 * store that dies in the contract of faults, an annotation on a class, which does not
 * compile, in {@link LockStartFailureTests}.
 */
class FirstDayMistakesTests {

	private static final ApplicationContextRunner LOCAL = LockedApplication.local();

	private static final ApplicationContextRunner JDBC = LockedApplication.jdbc(TestDatabase.H2.newDatabase());

	static List<Mistake> mistakes() {
		List<Mistake> all = new ArrayList<>();
		all.addAll(expressions());
		all.addAll(methods());
		all.addAll(attributes());
		all.addAll(properties());
		all.addAll(stores());
		all.addAll(calls());
		return all;
	}

	private static List<Mistake> expressions() {
		return List.of(
				bean("key names a parameter that is not there", LockStartFailureTests.UnknownParameter.class,
						"uses #sku, but the method has no such parameter", "Use one of [#stock, #quantity]"),
				bean("key of a method without parameters", LockStartFailureTests.NoParameters.class, "uses #sku",
						"no parameters at all: add one"),
				bean("key is a bare name", LockStartFailureTests.BareName.class, "the bare name 'sku'",
						"Write \"#sku\" for a parameter, \"'sku'\" for literal text"),
				bean("key is blank", LockStartFailureTests.BlankKey.class, "is blank", "such as \"'orders'\""),
				bean("key has a placeholder", LockStartFailureTests.PlaceholderInKey.class, "contains a placeholder",
						"@environment.getProperty('app.tenant')"),
				bean("key is no expression", LockStartFailureTests.NoExpression.class, "is not a SpEL expression",
						"literal text in single quotes and parameters with #"));
	}

	private static List<Mistake> methods() {
		return List.of(
				bean("private method", LockStartFailureTests.PrivateMethod.class,
						"is private and so cannot be called through a proxy", "Make the method public"),
				bean("static method", LockStartFailureTests.StaticMethod.class,
						"is static and so cannot be called through a proxy", "not static"),
				bean("final class", LockStartFailureTests.FinalClass.class, "the class is final",
						"Remove 'final' from the class"),
				bean("@Async method", LockStartFailureTests.Asynchronous.class, "before its work is done",
						"call it from the @Async method"),
				bean("final method", LockStartFailureTests.FinalMethod.class, "method 'lock' is final",
						"Remove 'final'"),
				start("method that is not on the interface of the proxy",
						LOCAL.withPropertyValues("spring.aop.proxy-target-class=false")
							.withBean(LockStartFailureTests.NotOnInterface.class),
						"not on an interface of the bean's JDK proxy", "'spring.aop.proxy-target-class' to 'true'"),
				bean("call on this", SelfCallTests.Plain.class, "calls SelfCallTests.Stock.deduct(String)",
						"to a bean of its own"),
				bean("call on this in a lambda", SelfCallTests.InLambda.class,
						"a lambda in SelfCallTests.InLambda.confirm", "to a bean of its own"),
				bean("@PostConstruct", NeverUnlockedTests.PostConstructed.class,
						"when Spring calls the method by itself (@PostConstruct)",
						"Call a locked method of another bean"),
				bean("@PreDestroy", NeverUnlockedTests.PreDestroyed.class,
						"when Spring calls the method by itself (@PreDestroy)", "Call a locked method of another bean"),
				bean("two interfaces with different keys", NeverUnlockedTests.Both.class,
						"has different attributes in NeverUnlockedTests.Api",
						"Annotate the method of NeverUnlockedTests.Both"),
				bean("package-private method of another package", NeverUnlockedTests.InOtherPackage.class,
						"is package-private in", "Make the method public or protected"),
				start("bean is created before the locks", LOCAL.withUserConfiguration(EarlyBean.class),
						"of bean 'stock' has no effect, as the bean is not proxied", "let that have an ObjectProvider"),
				bean("returns a CompletableFuture", LockStartFailureTests.ReturnsCompletableFuture.class,
						"returns a CompletableFuture before its work is done", "Lock a blocking method"),
				bean("returns a Callable", LockStartFailureTests.ReturnsCallable.class,
						"returns a Callable before its work is done", "Lock a blocking method"),
				bean("returns a DeferredResult", LockStartFailureTests.ReturnsDeferredResult.class,
						"returns a DeferredResult before its work is done", "Lock a blocking method"),
				bean("returns a StreamingResponseBody", LockStartFailureTests.ReturnsStreamingBody.class,
						"returns a StreamingResponseBody before its work is done", "Lock a blocking method"),
				bean("returns a Stream", LockStartFailureTests.ReturnsStream.class,
						"returns a Stream before its work is done", "as a list instead of a stream"),
				bean("returns an Iterator", LockStartFailureTests.ReturnsIterator.class,
						"Iterator before its work is done", "as a list instead of a stream or an iterator"),
				start("transaction around the lock",
						JDBC.withUserConfiguration(LockStartFailureTests.OuterTransaction.class)
							.withBean(LockStartFailureTests.Both.class),
						"inside of the method's transaction", "Set 'holdfast.order' to a smaller number"));
	}

	private static List<Mistake> attributes() {
		return List.of(
				bean("two annotations on one method", LockStartFailureTests.TwoAnnotations.class, "present 2 times",
						"let its key be a list"),
				bean("SKIP of a primitive", LockStartFailureTests.SkipPrimitive.class, "no value of type int to return",
						"Return Integer (null when skipped)"),
				bean("SKIP and a fallback", LockStartFailureTests.SkipAndFallback.class, "of which only one can be",
						"Remove one of the two"),
				bean("fallback that is not there", LockStartFailureTests.MissingFallback.class, "The fallback 'later'",
						"Declare exactly one method of this name"),
				bean("wait time is no time", LockStartFailureTests.BadWaitTime.class, "'soon' is not a valid duration",
						"Write a duration such as \"500ms\""),
				bean("lease time of 30 milliseconds", ShortLease.class, "means 30 milliseconds", "Write \"30s\""),
				bean("placeholder without a property", LockStartFailureTests.UnknownPlaceholder.class,
						"has a placeholder without a value", "Set the property, or give it a default"),
				bean("mode that the store does not have", LockStartFailureTests.SharedMode.class, "asks for [SHARED]",
						"('jdbc' not on H2, 'redis' without a quorum, 'redisson', 'etcd', 'zookeeper')"),
				start("fair order that the store does not have", JDBC.withBean(LockStartFailureTests.FairOrder.class),
						"asks for [FAIR]", "remove 'mode' and 'fair'"),
				bean("optimistic without a fence", LockStartFailureTests.OptimisticMode.class, "asks for [OPTIMISTIC]",
						"Set 'holdfast.commit-guard' to 'fence'"));
	}

	private static List<Mistake> properties() {
		return List.of(
				property("holdfast.lease-tim=30s", "'holdfast.lease-tim' is unknown",
						"Correct the name or remove the property"),
				property("holdfast.redis.host=localhost", "'holdfast.redis.host' is unknown",
						"the connection is 'spring.data.redis.host'"),
				property("holdfast.wait-time=-1s", "'holdfast.wait-time' is '-1s'", "time with a unit such as '5s'"),
				property("holdfast.lease-time=30", "a number without a unit counts milliseconds", "time with a unit"),
				property("holdfast.lease-time=0s", "but must be more than zero", "such as '5s'"),
				property("holdfast.locks.stok.wait-time=1s", "'holdfast.locks[stok]' match no lock",
						"Correct the name or remove the overrides"),
				property("holdfast.locks.stock.wait=1s", "'holdfast.locks.stock.wait' is unknown",
						"The name of a lock that has a dot is written in brackets"),
				property("holdfast.unguarded-transaction-managers=nobody",
						"names 'nobody', but there is no transaction manager", "Remove it"));
	}

	private static List<Mistake> stores() {
		return List.of(
				property("holdfast.backend=", "No lock backend is available",
						"set 'holdfast.backend' to 'local' if one JVM is all there is"),
				property("holdfast.backend=jdbc", "'jdbc' is asked for but not available",
						"needs spring-jdbc on the class path and one DataSource bean"),
				property("holdfast.backend=redis", "'redis' is asked for but not available",
						"one RedisConnectionFactory bean"),
				start("two DataSources", JDBC.withUserConfiguration(TwoDataSources.class),
						"Several DataSource beans could have the tables of Holdfast: [one, two]",
						"with @HoldfastDataSource, or as @Primary"),
				start("no lock table",
						LockedApplication.jdbc(TestDatabase.H2.newDatabase())
							.withPropertyValues("holdfast.jdbc.initialize-schema=never"),
						"'holdfast_lock' cannot be read", "Add the script classpath:"),
				start("database that is not there",
						JDBC.withPropertyValues("spring.datasource.url=jdbc:h2:tcp://127.0.0.1:1/nothing",
								"spring.datasource.hikari.connection-timeout=250"),
						"could not be reached: Connection is broken", "Check 'spring.datasource.url'"));
	}

	private static List<Mistake> calls() {
		return List.of(
				call("inside of a running transaction",
						(context) -> transaction(context).executeWithoutResult((status) -> stock(context).deduct("A")),
						"Lock 'stock:A' (stock) is called inside a running transaction",
						"Take the lock around that transaction, by @DistributedLock on its method"),
				call("another lock inside of the transaction of the first",
						(context) -> stock(context).deductAnd("A", () -> stock(context).deduct("B")),
						"Lock 'stock:B' (stock) is called inside a running transaction",
						"'release-after-completion'. The last two need a second connection"),
				call("key of null", (context) -> stock(context).deduct(null), "gives no key: #sku is null",
						"check it before the call"),
				call("key of an object without a text", (context) -> stock(context).deduct(new Object()),
						"has no text form of its own", "use one of its properties, such as its id"),
				call("key of a record with more than the id", (context) -> stock(context).deduct(new Item(1, 2)),
						"has the text 'Item[id=1, quantity=2]'", "#sku.id"),
				call("key of a list where one is meant", (context) -> stock(context).deduct(List.of("A", "B")),
						"cannot be a part of one key", "for one lock per element use a projection"),
				call("returns work for later as an Object",
						(context) -> stock(context).give((Callable<String>) () -> ""),
						"Stock.give(Object) has returned",
						"Lock a blocking method that does the work and returns its result"),
				call("expected lock is not held", (context) -> LockContext.assertHeld("stock:A"),
						"Lock 'stock:A' is not held here: this thread holds no lock",
						"Likely causes: the locked method was called on 'this'"));
	}

	@Test
	void thereAreFortyAtLeast() {
		assertThat(mistakes()).hasSizeGreaterThanOrEqualTo(40).doesNotHaveDuplicates();
	}

	@ParameterizedTest
	@MethodSource("mistakes")
	void isNoticedWithItsCauseAndRemedy(Mistake mistake) {
		mistake.application().run((context) -> {
			Call call = mistake.call();
			if (call != null) {
				assertThat(context).hasNotFailed();
				assertThat(catchThrowable(() -> call.on(context))).isNotNull()
					.hasMessageContainingAll(mistake.cause(), mistake.remedy());
				return;
			}
			LockConfigurationException failure = find(context.getStartupFailure());
			assertThat(failure).isNotNull();
			assertThat(failure.description()).contains(mistake.cause());
			assertThat(failure.action()).contains(mistake.remedy());
		});
	}

	private static @Nullable LockConfigurationException find(@Nullable Throwable failure) {
		Throwable cause = failure;
		while (cause != null && !(cause instanceof LockConfigurationException)) {
			cause = cause.getCause();
		}
		return (LockConfigurationException) cause;
	}

	private static Mistake bean(String what, Class<?> bean, String cause, String remedy) {
		return start(what, LOCAL.withBean(bean), cause, remedy);
	}

	private static Mistake property(String property, String cause, String remedy) {
		return start(property, LOCAL.withBean(Stock.class).withPropertyValues(property), cause, remedy);
	}

	private static Mistake start(String what, ApplicationContextRunner application, String cause, String remedy) {
		return new Mistake(what, application, null, cause, remedy);
	}

	private static Mistake call(String what, Call call, String cause, String remedy) {
		return new Mistake(what, JDBC.withBean(Stock.class).withPropertyValues("holdfast.wait-time=0s"), call, cause,
				remedy);
	}

	private static Stock stock(ApplicationContext context) {
		return context.getBean(Stock.class);
	}

	private static TransactionTemplate transaction(ApplicationContext context) {
		return new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
	}

	record Mistake(String what, ApplicationContextRunner application, @Nullable Call call, String cause,
			String remedy) {

		@Override
		public String toString() {
			return this.what;
		}

	}

	interface Call {

		void on(ApplicationContext context);

	}

	static class Stock {

		@DistributedLock(key = "'stock:' + #sku", name = "stock")
		@Transactional
		public void deduct(@Nullable Object sku) {
		}

		@DistributedLock(key = "'stock:' + #sku")
		@Transactional
		public void deductAnd(String sku, Runnable more) {
			more.run();
		}

		@DistributedLock(key = "'stock'")
		public Object give(Object result) {
			return result;
		}

	}

	record Item(long id, int quantity) {

	}

	static class ShortLease {

		@DistributedLock(key = "'report'", leaseTime = "30")
		public void report() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class EarlyBean {

		@Bean
		static BeanFactoryPostProcessor early() {
			return (beans) -> beans.getBean(Stock.class);
		}

		@Bean
		Stock stock() {
			return new Stock();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TwoDataSources {

		@Bean
		DataSource one() {
			return new DriverManagerDataSource("jdbc:h2:mem:one");
		}

		@Bean
		DataSource two() {
			return new DriverManagerDataSource("jdbc:h2:mem:two");
		}

	}

}
