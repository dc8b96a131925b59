package io.github.holdfast.interceptor;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockConfigurationException;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockNotAcquiredException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.scheduling.annotation.Async;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Annotations that cannot work: the first look at the bean says where the mistake is,
 * what is wrong and what to do.
 */
class RefusedAnnotationTests {

	// Expressions

	@Test
	void unknownParameterFailsTheStart() {
		assertFailure(UnknownParameter.class, "\"'inventory:' + #sku\"", "UnknownParameter.lock(String, int)",
				"#sku, but the method has no such parameter", "Use one of [#stock, #quantity]");
	}

	static class UnknownParameter {

		@DistributedLock(key = "'inventory:' + #sku")
		public void lock(String stock, int quantity) {
		}

	}

	@Test
	void unknownParameterInAProjectionFailsTheStart() {
		assertFailure(UnknownInProjection.class, "#prefx", "Use one of [#prefix, #skus]");
	}

	static class UnknownInProjection {

		@DistributedLock(key = "#skus.![#prefx + #this]")
		public void lock(String prefix, List<String> skus) {
		}

	}

	@Test
	void parameterOfAMethodWithoutParametersFailsTheStart() {
		assertFailure(NoParameters.class, "#sku", "The method has no parameters at all: add one");
	}

	static class NoParameters {

		@DistributedLock(key = "#sku")
		public void lock() {
		}

	}

	@Test
	void positionThatDoesNotExistFailsTheStart() {
		assertFailure(WrongPosition.class, "#p1", "Use one of [#sku]");
	}

	static class WrongPosition {

		@DistributedLock(key = "#p1")
		public void lock(String sku) {
		}

	}

	@Test
	void bareNameFailsTheStart() {
		assertFailure(BareName.class, "uses the bare name 'sku'", "Write \"#sku\" for a parameter", "\"'sku'\"");
	}

	static class BareName {

		@DistributedLock(key = "'inventory:' + sku")
		public void lock(String sku) {
		}

	}

	@Test
	void textJoinedInAnArgumentFailsTheStart() {
		assertFailure(TextInArgument.class, "joins text in an argument of a call", "separate arguments");
	}

	static class TextInArgument {

		@DistributedLock(key = "@keys.of('inventory:' + #sku)")
		public void lock(String sku) {
		}

	}

	@Test
	void expressionThatCannotBeParsedFailsTheStart() {
		assertFailure(NoExpression.class, "\"inventory:#sku\"", "is not a SpEL expression", "single quotes");
	}

	static class NoExpression {

		@DistributedLock(key = "inventory:#sku")
		public void lock(String sku) {
		}

	}

	@Test
	void functionFailsTheStart() {
		assertFailure(Function.class, "calls a function that does not exist", "@bean.method");
	}

	static class Function {

		@DistributedLock(key = "#hash(#sku)")
		public void lock(String sku) {
		}

	}

	@Test
	void blankKeyFailsTheStart() {
		assertFailure(BlankKey.class, "BlankKey.lock() is blank", "Give a SpEL expression");
	}

	static class BlankKey {

		@DistributedLock(key = " ")
		public void lock() {
		}

	}

	@Test
	void placeholderInAKeyFailsTheStart() {
		assertFailure(PlaceholderInKey.class, "contains a placeholder", "@environment.getProperty('app.tenant')");
	}

	static class PlaceholderInKey {

		@DistributedLock(key = "'${app.tenant}:' + #sku")
		public void lock(String sku) {
		}

	}

	@Test
	void unknownParameterInAConditionFailsTheStart() {
		assertFailure(WrongCondition.class, "The condition \"#size > 10\"", "Use one of [#quantity]");
	}

	static class WrongCondition {

		@DistributedLock(key = "'a'", condition = "#size > 10")
		public void lock(int quantity) {
		}

	}

	@Test
	void missingParameterNamesFailTheStart() throws Exception {
		TestCompiler compiler = new TestCompiler();
		assertThat(compiler.compile("Unnamed", """
				public class Unnamed {
					@io.github.holdfast.DistributedLock(key = "#sku")
					public void lock(String sku, int quantity) {
					}
				}""")).as(compiler::messages).isTrue();
		assertFailure(compiler.load("Unnamed"), "#sku, but the class was compiled without parameter names",
				"-parameters", "[#p0, #p1]");
	}

	@Test
	void positionsWorkWithoutParameterNames() throws Exception {
		TestCompiler compiler = new TestCompiler();
		assertThat(compiler.compile("Positions", """
				public class Positions {
					@io.github.holdfast.DistributedLock(key = "#p0")
					public void lock(String sku) {
					}
				}""")).as(compiler::messages).isTrue();
		Class<?> positions = compiler.load("Positions");
		LockedApplication.local()
			.withClassLoader(positions.getClassLoader())
			.withBean(positions)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	// Methods

	@Test
	@Tag("F09")
	void privateMethodFailsTheStart() {
		assertFailure(PrivateMethod.class, "PrivateMethod.lock()", "is private and so cannot be called through a proxy",
				"Make the method public");
	}

	static class PrivateMethod {

		@DistributedLock(key = "'a'")
		private void lock() {
		}

	}

	@Test
	void staticMethodFailsTheStart() {
		assertFailure(StaticMethod.class, "is static and so cannot be called through a proxy");
	}

	static class StaticMethod {

		@DistributedLock(key = "'a'")
		public static void lock() {
		}

	}

	@ParameterizedTest
	@ValueSource(classes = { ReturnsFuture.class, ReturnsCompletableFuture.class, ReturnsStage.class,
			ReturnsPublisher.class, ReturnsCallable.class, ReturnsStream.class, ReturnsStreamOfNumbers.class,
			ReturnsIterator.class, ReturnsMono.class })
	@Tag("F08")
	void returnBeforeTheWorkIsDoneFailsTheStart(Class<?> bean) {
		assertFailure(bean, "before its work is done: the lock would be released too early", "Lock a blocking method");
	}

	@Test
	@Tag("F08")
	void asynchronousMethodFailsTheStartWithItsRemedy() {
		assertFailure(Asynchronous.class, "before its work is done", "the @Async method of another bean");
	}

	static class Asynchronous {

		@Async
		@DistributedLock(key = "'a'")
		public CompletableFuture<String> lock() {
			return CompletableFuture.completedFuture("a");
		}

	}

	static class ReturnsFuture {

		@DistributedLock(key = "'a'")
		public Future<String> lock() {
			return new CompletableFuture<>();
		}

	}

	static class ReturnsCompletableFuture {

		@DistributedLock(key = "'a'")
		public CompletableFuture<String> lock() {
			return new CompletableFuture<>();
		}

	}

	static class ReturnsStage {

		@DistributedLock(key = "'a'")
		public CompletionStage<String> lock() {
			return new CompletableFuture<>();
		}

	}

	static class ReturnsPublisher {

		@DistributedLock(key = "'a'")
		public Flow.Publisher<String> lock() {
			return (subscriber) -> {
			};
		}

	}

	static class ReturnsCallable {

		@DistributedLock(key = "'a'")
		public Callable<String> lock() {
			return () -> "a";
		}

	}

	static class ReturnsStream {

		@DistributedLock(key = "'a'")
		public Stream<String> lock() {
			return Stream.of("a");
		}

	}

	static class ReturnsStreamOfNumbers {

		@DistributedLock(key = "'a'")
		public IntStream lock() {
			return IntStream.of(1);
		}

	}

	static class ReturnsIterator {

		@DistributedLock(key = "'a'")
		public Iterator<String> lock() {
			return List.<String>of().iterator();
		}

	}

	static class ReturnsMono {

		@DistributedLock(key = "'a'")
		public Mono<String> lock() {
			return Mono.empty();
		}

	}

	@Test
	void returnOfAnUndeclaredTypeIsNotLookedAt() {
		LockedApplication.local().withBean(ReturnsObject.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(context.getBean(ReturnsObject.class).lock()).isInstanceOf(Future.class);
		});
	}

	static class ReturnsObject {

		@DistributedLock(key = "'a'")
		public Object lock() {
			return new CompletableFuture<>();
		}

	}

	// Annotations

	/**
	 * Compiled here, because Spring cannot even scan such a class.
	 */
	@Test
	void valueAndKeyThatDifferFailTheStart() throws Exception {
		TestCompiler compiler = new TestCompiler();
		assertThat(compiler.compile("ValueAndKey", """
				public class ValueAndKey {
					@io.github.holdfast.DistributedLock(value = "'a'", key = "'b'")
					public void lock() {
					}
				}""")).as(compiler::messages).isTrue();
		assertFailure(compiler.load("ValueAndKey"), "ValueAndKey.lock() cannot be read",
				"Set either 'value' or 'key', not both.");
	}

	@Test
	void neitherValueNorKeyFailsTheStart() {
		assertFailure(NeitherValueNorKey.class, "NeitherValueNorKey.lock() is blank", "Give a SpEL expression");
	}

	static class NeitherValueNorKey {

		@DistributedLock
		public void lock() {
		}

	}

	@Test
	void twoAnnotationsOnOneMethodFailTheStart() {
		assertFailure(TwoAnnotations.class, "present 2 times on", "TwoAnnotations.lock()", "let its key be a list");
	}

	static class TwoAnnotations {

		@First
		@Second
		public void lock() {
		}

	}

	@Test
	void composedAnnotationBesidesTheAnnotationFailsTheStart() {
		assertFailure(ComposedAndDirect.class, "present 2 times on");
	}

	static class ComposedAndDirect {

		@First
		@DistributedLock(key = "'b'")
		public void lock() {
		}

	}

	@Target(ElementType.METHOD)
	@Retention(RetentionPolicy.RUNTIME)
	@DistributedLock(key = "'first'")
	@interface First {

	}

	@Target(ElementType.METHOD)
	@Retention(RetentionPolicy.RUNTIME)
	@DistributedLock(key = "'second'")
	@interface Second {

	}

	// Busy

	@Test
	void skipOfAPrimitiveFailsTheStart() {
		assertFailure(SkipPrimitive.class, "no value of type int to return", "Return Integer (null when skipped)");
	}

	static class SkipPrimitive {

		@DistributedLock(key = "'a'", onBusy = DistributedLock.OnBusy.SKIP)
		public int lock() {
			return 1;
		}

	}

	@Test
	void skipWithFallbackFailsTheStart() {
		assertFailure(SkipAndFallback.class, "with onBusy = SKIP and a fallback", "Remove one of the two.");
	}

	static class SkipAndFallback {

		@DistributedLock(key = "'a'", onBusy = DistributedLock.OnBusy.SKIP, fallbackMethod = "later")
		public void lock() {
		}

		public void later() {
		}

	}

	@ParameterizedTest
	@ValueSource(classes = { MissingFallback.class, FallbackOfOtherParameters.class, FallbackOfOtherReturn.class,
			PrivateFallback.class, FallbackWithOtherException.class })
	void fallbackThatDoesNotFitFailsTheStart(Class<?> bean) {
		assertFailure(bean, "The fallback method 'later' of @DistributedLock on",
				bean.getSimpleName() + ".lock(String)", "does not exist", "same parameters", bean.getSimpleName());
	}

	static class MissingFallback {

		@DistributedLock(key = "'a'", fallbackMethod = "later")
		public String lock(String sku) {
			return sku;
		}

	}

	static class FallbackOfOtherParameters extends MissingFallback {

		public String later(int sku) {
			return "";
		}

	}

	static class FallbackOfOtherReturn extends MissingFallback {

		public int later(String sku) {
			return 1;
		}

	}

	static class PrivateFallback {

		@DistributedLock(key = "'a'", fallbackMethod = "later")
		public String lock(String sku) {
			return later(sku);
		}

		private String later(String sku) {
			return sku;
		}

	}

	static class FallbackWithOtherException extends MissingFallback {

		public String later(String sku, IllegalStateException ex) {
			return "";
		}

	}

	@Test
	void ambiguousFallbackFailsTheStart() {
		assertFailure(AmbiguousFallback.class, "exists 2 times", "Declare exactly one method of this name");
	}

	static class AmbiguousFallback extends MissingFallback {

		public String later(String sku) {
			return "";
		}

		public String later(String sku, LockNotAcquiredException ex) {
			return "";
		}

	}

	// Settings

	@ParameterizedTest
	@ValueSource(classes = { BadWaitTime.class, NoUnit.class })
	void durationThatIsNotUsableFailsTheStart(Class<?> bean) {
		assertFailure(bean, "waitTime \"", bean.getSimpleName() + ".lock() is not usable",
				"Write a duration such as \"500ms\", \"2s\" or \"PT2S\"");
	}

	@ParameterizedTest
	@ValueSource(classes = { BadLeaseTime.class, BadMaxHoldTime.class, BadMinHoldTime.class })
	void timesThatAreNotUsableFailTheStart(Class<?> bean) {
		assertFailure(bean, "time must", bean.getSimpleName() + ".lock() is not usable", "'holdfast.locks'");
	}

	static class NoUnit {

		@DistributedLock(key = "'a'", waitTime = "30")
		public void lock() {
		}

	}

	@Test
	void placeholderWithoutAValueFailsTheStart() {
		String[] text = { "waitTime \"${app.no-such-property}\"", "UnknownPlaceholder.lock() has a placeholder without",
				"Set the property, or give it a default" };
		assertFailure(UnknownPlaceholder.class, text);
		assertFailure(
				LockedApplication.local()
					.withConfiguration(AutoConfigurations.of(PropertyPlaceholderAutoConfiguration.class)),
				UnknownPlaceholder.class, text);
	}

	static class BadWaitTime {

		@DistributedLock(key = "'a'", waitTime = "soon")
		public void lock() {
		}

	}

	static class BadLeaseTime {

		@DistributedLock(key = "'a'", leaseTime = "0s")
		public void lock() {
		}

	}

	static class BadMaxHoldTime {

		@DistributedLock(key = "'a'", maxHoldTime = "-1s")
		public void lock() {
		}

	}

	static class BadMinHoldTime {

		@DistributedLock(key = "'a'", maxHoldTime = "2s", minHoldTime = "3s")
		public void lock() {
		}

	}

	static class UnknownPlaceholder {

		@DistributedLock(key = "'a'", waitTime = "${app.no-such-property}")
		public void lock() {
		}

	}

	@Test
	void optimisticModeWithFairOrderFailsTheStart() {
		assertFailure(LockedApplication.local(), FairOptimism.class, "FairOptimism.lock()",
				"is optimistic, so nothing is held");
	}

	static class FairOptimism {

		@DistributedLock(key = "'a'", mode = LockMode.OPTIMISTIC, fair = true)
		public void lock() {
		}

	}

	@Test
	void optimisticModeWithAHoldTimeFailsTheStart() {
		assertFailure(LockedApplication.local(), HeldOptimism.class, "HeldOptimism.lock()",
				"is optimistic, so nothing is held", "'holdfast.locks'");
	}

	static class HeldOptimism {

		@DistributedLock(key = "'a'", mode = LockMode.OPTIMISTIC, minHoldTime = "1s")
		public void lock() {
		}

	}

	@Test
	void annotationOnAClassDoesNotCompile() throws Exception {
		TestCompiler compiler = new TestCompiler();
		assertThat(compiler.compile("OnClass", """
				@io.github.holdfast.DistributedLock(key = "'a'")
				public class OnClass {
				}""")).isFalse();
		assertThat(compiler.messages()).contains("OnClass.java:1");
	}

	private static void assertFailure(Class<?> bean, String... text) {
		assertFailure(LockedApplication.local(), bean, text);
	}

	private static void assertFailure(ApplicationContextRunner application, Class<?> bean, String... text) {
		String name = Character.toLowerCase(bean.getSimpleName().charAt(0)) + bean.getSimpleName().substring(1);
		application.withClassLoader(bean.getClassLoader()).withBean(name, bean).run((context) -> {
			assertThat(context).hasFailed();
			LockConfigurationException failure = configurationFailure(context.getStartupFailure());
			assertThat(failure.description() + " " + failure.action()).contains(text);
			assertThat(failure.description()).endsWith(".");
			assertThat(failure.action()).endsWith(".");
		});
	}

	private static LockConfigurationException configurationFailure(Throwable failure) {
		Throwable cause = failure;
		while (!(cause instanceof LockConfigurationException) && cause.getCause() != null) {
			cause = cause.getCause();
		}
		assertThat(cause).isInstanceOf(LockConfigurationException.class);
		return (LockConfigurationException) cause;
	}

}
