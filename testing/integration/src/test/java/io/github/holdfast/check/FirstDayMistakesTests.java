package io.github.holdfast.check;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.DistributedLock.OnBusy;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockMode;
import io.github.holdfast.autoconfigure.HoldfastAutoConfiguration;
import io.github.holdfast.autoconfigure.StartFailure;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * What is easily done wrong on the first day: when it is noticed, and that what is
 * printed tells the cause and the remedy. Most are noticed at the start; none does its
 * work without a lock in silence. Variants of each are in the tests of its subject.
 */
@Tag("long")
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
				bean("key names a parameter that is not there", UnknownParameter.class,
						"uses #sku, but the method has no such parameter", "Use one of [#stock, #quantity]"),
				bean("key of a method without parameters", NoParameters.class, "uses #sku",
						"no parameters at all: add one"),
				bean("key is a bare name", BareName.class, "the bare name 'sku'",
						"Write \"#sku\" for a parameter, \"'sku'\" for literal text"),
				bean("key is blank", BlankKey.class, "is blank", "such as \"'orders'\""),
				bean("key has a placeholder", PlaceholderInKey.class, "contains a placeholder",
						"@environment.getProperty('app.tenant')"),
				bean("key is no expression", NoExpression.class, "is not a SpEL expression",
						"literal text in single quotes and parameters with #"));
	}

	private static List<Mistake> methods() {
		return List.of(
				bean("private method", PrivateMethod.class, "is private and so cannot be called through a proxy",
						"Make the method public"),
				bean("static method", StaticMethod.class, "is static and so cannot be called through a proxy",
						"not static"),
				bean("final method", FinalMethod.class, "the method is final", "Remove 'final'"),
				start("method that is not on the interface of the proxy",
						LOCAL.withPropertyValues("spring.aop.proxy-target-class=false").withBean(NotOnInterface.class),
						"not on an interface of the bean's JDK proxy", "'spring.aop.proxy-target-class' to 'true'"),
				bean("call on this", OnThis.class, "Calls past the proxy of bean", "to another bean"),
				bean("call on this in a lambda", InLambda.class, "Calls past the proxy of bean", "to another bean"),
				bean("returns a CompletableFuture", ReturnsFuture.class,
						"returns a CompletableFuture before its work is done", "the @Async method of another bean"),
				bean("returns a Callable", ReturnsCallable.class, "returns a Callable before its work is done",
						"Lock a blocking method"),
				bean("returns a Stream", ReturnsStream.class, "returns a Stream before its work is done",
						"for example a list instead of a stream"),
				bean("returns an Iterator", ReturnsIterator.class, "Iterator before its work is done",
						"for example a list instead of a stream or an iterator"),
				start("transaction around the lock",
						JDBC.withUserConfiguration(OuterTransaction.class).withBean(Stock.class),
						"would be released before the commit", "Set 'holdfast.order' below"));
	}

	private static List<Mistake> attributes() {
		return List.of(
				bean("two annotations on one method", TwoAnnotations.class, "present 2 times", "let its key be a list"),
				bean("SKIP of a primitive", SkipPrimitive.class, "no value of type int to return",
						"Return Integer (null when skipped)"),
				bean("SKIP and a fallback", SkipAndFallback.class, "SKIP and a fallback method",
						"Remove one of the two"),
				bean("fallback that is not there", MissingFallback.class, "The fallback method 'later'",
						"Declare exactly one method of this name"),
				bean("wait time is no time", BadWaitTime.class, "\"soon\"", "Write a duration such as \"500ms\""),
				bean("lease time without a unit", NoUnit.class, "\"30\"", "Write a duration such as \"500ms\""),
				bean("placeholder without a property", UnknownPlaceholder.class, "has a placeholder without a value",
						"Set the property, or give it a default"),
				start("mode that the store does not have", JDBC.withBean(Shared.class), "needs SHARED",
						"'redis', 'redisson', 'zookeeper' or 'etcd'"),
				start("fair order that the store does not have", JDBC.withBean(Fair.class), "needs FAIR",
						"remove 'mode' and 'fair'"),
				bean("optimistic without a fence", Optimistic.class, "mode OPTIMISTIC needs",
						"Set both properties, or remove 'mode'"));
	}

	private static List<Mistake> properties() {
		return List.of(
				property("holdfast.wait-time=-1s", "'holdfast.wait-time' is -1000 ms",
						"A number without a unit counts milliseconds"),
				property("holdfast.lease-time=30", "'holdfast.lease-time' is 30 ms",
						"A number without a unit counts milliseconds"),
				start("times that contradict each other",
						LOCAL.withBean(Stock.class)
							.withPropertyValues("holdfast.locks.stock.max-hold-time=1s",
									"holdfast.locks.stock.min-hold-time=2s"),
						"'holdfast.locks[stock]' is invalid", "Correct the times"),
				start("transaction manager that is not there",
						JDBC.withBean(Stock.class).withPropertyValues("holdfast.transaction-managers.nobody=lease"),
						"names 'nobody', but there is no such transaction manager",
						"Use one of the bean names [transactionManager]"));
	}

	private static List<Mistake> stores() {
		return List.of(
				start("no store at all",
						new ApplicationContextRunner()
							.withConfiguration(
									AutoConfigurations.of(AopAutoConfiguration.class, HoldfastAutoConfiguration.class))
							.withBean(Stock.class),
						"No lock backend is available",
						"set 'holdfast.backend' to 'local' if the application runs on one node only"),
				property("holdfast.backend=jdbc", "'jdbc' is not available", "Add spring-boot-starter-jdbc"),
				property("holdfast.backend=redis", "'redis' is not available", "Add spring-boot-starter-data-redis"),
				start("Redis that is not there",
						LockedApplication.redis(1).withPropertyValues("spring.data.redis.timeout=1s"),
						"The lock backend 'redis' cannot be used", "Check that the store is running"),
				start("no lock table",
						LockedApplication.jdbc(TestDatabase.H2.newDatabase())
							.withPropertyValues("holdfast.jdbc.initialize-schema=never"),
						"'holdfast_lock' cannot be read", "CREATE TABLE IF NOT EXISTS holdfast_lock"),
				start("database that is not there",
						JDBC.withPropertyValues("spring.datasource.url=jdbc:h2:tcp://127.0.0.1:1/nothing",
								"spring.datasource.hikari.connection-timeout=250"),
						"The database of the locks could not be reached", "'spring.datasource.url'"));
	}

	private static List<Mistake> calls() {
		return List.of(
				call("inside of a running transaction",
						(context) -> transaction(context).executeWithoutResult((status) -> stock(context).deduct("A")),
						"Lock 'stock:A' (stock) is called inside a running transaction",
						"Put @DistributedLock on the method that begins the transaction"),
				call("another lock inside of the transaction of the first",
						(context) -> stock(context).deductAnd("A", () -> stock(context).deduct("B")),
						"Lock 'stock:B' (stock) is called inside a running transaction",
						"@Transactional(propagation = REQUIRES_NEW), which needs a second connection"),
				call("key of null", (context) -> stock(context).deduct(null), "#sku is null",
						"check it before the call"),
				call("key of an object without a text", (context) -> stock(context).deduct(new Object()),
						"#sku is a Object", "For your own types, write a property"),
				call("key of a record with more than the id", (context) -> stock(context).deduct(new Item(1, 2)),
						"#sku is a FirstDayMistakesTests.Item", "For your own types, write a property"),
				call("key of a list where one is meant", (context) -> stock(context).deduct(List.of("A", "B")),
						"cannot be a part of one key", "for one lock per element use a projection"),
				call("expected lock is not held", (context) -> LockContext.assertHeld("stock:A"),
						"Lock 'stock:A' is not held here: this thread holds no lock",
						"Likely causes: the locked method was called on 'this'"));
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
			assertThat(context).hasFailed();
			assertThat(StartFailure.printed(context.getStartupFailure())).contains(mistake.cause(), mistake.remedy());
		});
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

	record Item(long id, int quantity) {

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

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement(order = 1)
	static class OuterTransaction {

	}

	static class UnknownParameter {

		@DistributedLock("#sku")
		public void lock(String stock, int quantity) {
		}

	}

	static class NoParameters {

		@DistributedLock("#sku")
		public void lock() {
		}

	}

	static class BareName {

		@DistributedLock("sku")
		public void lock(String sku) {
		}

	}

	static class BlankKey {

		@DistributedLock(" ")
		public void lock() {
		}

	}

	static class PlaceholderInKey {

		@DistributedLock("'${app.tenant}'")
		public void lock() {
		}

	}

	static class NoExpression {

		@DistributedLock("stock:#sku")
		public void lock(String sku) {
		}

	}

	static class PrivateMethod {

		public void call() {
			lock();
		}

		@DistributedLock("'a'")
		private void lock() {
		}

	}

	static class StaticMethod {

		@DistributedLock("'a'")
		public static void lock() {
		}

	}

	static class FinalMethod {

		@DistributedLock("'a'")
		public final void lock() {
		}

	}

	static class NotOnInterface implements Runnable {

		@Override
		public void run() {
		}

		@DistributedLock("'a'")
		public void lock() {
		}

	}

	static class OnThis {

		public void call() {
			lock();
		}

		@DistributedLock("'a'")
		public void lock() {
		}

	}

	static class InLambda {

		public Supplier<String> call() {
			return () -> lock();
		}

		@DistributedLock("'a'")
		public String lock() {
			return "";
		}

	}

	static class ReturnsFuture {

		@DistributedLock("'a'")
		public CompletableFuture<String> lock() {
			return CompletableFuture.completedFuture("");
		}

	}

	static class ReturnsCallable {

		@DistributedLock("'a'")
		public Callable<String> lock() {
			return () -> "";
		}

	}

	static class ReturnsStream {

		@DistributedLock("'a'")
		public Stream<String> lock() {
			return Stream.of("");
		}

	}

	static class ReturnsIterator {

		@DistributedLock("'a'")
		public Iterator<String> lock() {
			return List.of("").iterator();
		}

	}

	static class TwoAnnotations {

		@DistributedLock("'a'")
		@AlsoLocked
		public void lock() {
		}

	}

	@DistributedLock("'b'")
	@Retention(RetentionPolicy.RUNTIME)
	@interface AlsoLocked {

	}

	static class SkipPrimitive {

		@DistributedLock(key = "'a'", onBusy = OnBusy.SKIP)
		public int lock() {
			return 1;
		}

	}

	static class SkipAndFallback {

		@DistributedLock(key = "'a'", onBusy = OnBusy.SKIP, fallbackMethod = "later")
		public void lock() {
		}

		public void later() {
		}

	}

	static class MissingFallback {

		@DistributedLock(key = "'a'", fallbackMethod = "later")
		public void lock() {
		}

	}

	static class BadWaitTime {

		@DistributedLock(key = "'a'", waitTime = "soon")
		public void lock() {
		}

	}

	static class NoUnit {

		@DistributedLock(key = "'a'", leaseTime = "30")
		public void lock() {
		}

	}

	static class UnknownPlaceholder {

		@DistributedLock(key = "'a'", waitTime = "${app.no-such-property}")
		public void lock() {
		}

	}

	static class Shared {

		@DistributedLock(key = "'a'", mode = LockMode.SHARED)
		public void lock() {
		}

	}

	static class Fair {

		@DistributedLock(key = "'a'", fair = true)
		public void lock() {
		}

	}

	static class Optimistic {

		@DistributedLock(key = "'a'", mode = LockMode.OPTIMISTIC)
		@Transactional
		public void lock() {
		}

	}

}
