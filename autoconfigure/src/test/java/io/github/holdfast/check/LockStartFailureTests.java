package io.github.holdfast.check;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Enumeration;
import java.util.Iterator;
import java.util.List;
import java.util.ListIterator;
import java.util.Optional;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.apache.ibatis.cursor.Cursor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.http.HttpEntity;
import org.springframework.http.ResponseEntity;
import org.springframework.scheduling.annotation.Async;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.WebAsyncTask;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockConfigurationException;
import io.github.holdfast.LockMode;
import io.github.holdfast.autoconfigure.LockedApplication;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.interceptor.TestCompiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Mistakes that are found while the application starts: each says where it is, what is
 * wrong and what to do.
 */
class LockStartFailureTests {

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

	@Test
	@Tag("F09")
	void finalMethodFailsTheStart() {
		assertFailure(FinalMethod.class, "FinalMethod.lock()", "the method is final", "bean 'finalMethod'",
				"Remove 'final'");
	}

	static class FinalMethod {

		@DistributedLock(key = "'a'")
		public final void lock() {
		}

	}

	@Test
	@Tag("F09")
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
	@ValueSource(classes = { ReturnsFuture.class, ReturnsCompletableFuture.class, ReturnsStage.class,
			ReturnsPublisher.class })
	@Tag("F08")
	void returnBeforeTheWorkIsDoneFailsTheStart(Class<?> bean) {
		assertFailure(bean, "before its work is done: the lock would be released too early", "Lock a blocking method");
	}

	@Test
	@Tag("F08")
	void asynchronousMethodFailsTheStartWithItsRemedy() {
		assertFailure(Asynchronous.class, "before its work is done", "call it from the @Async method");
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

	@ParameterizedTest
	@ValueSource(classes = { ReturnsCallable.class, ReturnsWebAsyncTask.class, ReturnsDeferredResult.class,
			ReturnsEmitter.class, ReturnsSubclassOfEmitter.class, ReturnsStreamingBody.class,
			ReturnsResponseWithBody.class, ReturnsResponseWithFuture.class, ReturnsStream.class,
			ReturnsStreamOfNumbers.class, ReturnsOptionalStream.class, ReturnsCallableByItsParameter.class,
			ReturnsIterator.class, ReturnsListIterator.class, ReturnsCursor.class })
	@Tag("F08")
	void returnOfWorkForLaterFailsTheStart(Class<?> bean) {
		assertFailure(bean, "before its work is done: the lock would be released too early", "Lock a blocking method",
				"a list instead of a stream");
	}

	static class ReturnsCallable {

		@DistributedLock(key = "'a'")
		public Callable<String> lock() {
			return () -> "a";
		}

	}

	static class ReturnsWebAsyncTask {

		@DistributedLock(key = "'a'")
		public WebAsyncTask<String> lock() {
			return new WebAsyncTask<>(() -> "a");
		}

	}

	static class ReturnsDeferredResult {

		@DistributedLock(key = "'a'")
		public DeferredResult<String> lock() {
			return new DeferredResult<>();
		}

	}

	static class ReturnsEmitter {

		@DistributedLock(key = "'a'")
		public ResponseBodyEmitter lock() {
			return new ResponseBodyEmitter();
		}

	}

	static class ReturnsSubclassOfEmitter {

		@DistributedLock(key = "'a'")
		public SseEmitter lock() {
			return new SseEmitter();
		}

	}

	static class ReturnsStreamingBody {

		@DistributedLock(key = "'a'")
		public StreamingResponseBody lock() {
			return (stream) -> {
			};
		}

	}

	static class ReturnsResponseWithBody {

		@DistributedLock(key = "'a'")
		public ResponseEntity<StreamingResponseBody> lock() {
			return ResponseEntity.noContent().build();
		}

	}

	static class ReturnsResponseWithFuture {

		@DistributedLock(key = "'a'")
		public HttpEntity<Optional<CompletableFuture<String>>> lock() {
			return new HttpEntity<>(Optional.empty());
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

	static class ReturnsOptionalStream {

		@DistributedLock(key = "'a'")
		public Optional<? extends Stream<String>> lock() {
			return Optional.empty();
		}

	}

	abstract static class ReturnsItsParameter<T> {

		@DistributedLock(key = "'a'")
		public T lock(T value) {
			return value;
		}

	}

	static class ReturnsCallableByItsParameter extends ReturnsItsParameter<Callable<String>> {

	}

	@ParameterizedTest
	@ValueSource(classes = { ReturnsText.class, ReturnsResponse.class, ReturnsSupplier.class, ReturnsIterable.class })
	@Tag("F08")
	void returnOfAResultIsAccepted(Class<?> bean) {
		LockedApplication.local().withBean(bean).run((context) -> assertThat(context).hasNotFailed());
	}

	static class ReturnsText extends ReturnsItsParameter<String> {

	}

	static class ReturnsResponse {

		@DistributedLock(key = "'a'")
		public ResponseEntity<List<String>> lock() {
			return ResponseEntity.noContent().build();
		}

	}

	static class ReturnsSupplier {

		@DistributedLock(key = "'a'")
		public Supplier<String> lock() {
			return () -> "a";
		}

	}

	static class ReturnsIterator {

		@DistributedLock(key = "'a'")
		public Optional<Iterator<String>> lock() {
			return Optional.empty();
		}

	}

	static class ReturnsListIterator {

		@DistributedLock(key = "'a'")
		public ListIterator<String> lock() {
			return List.<String>of().listIterator();
		}

	}

	static class ReturnsCursor {

		@DistributedLock(key = "'a'")
		public Optional<Cursor<String>> lock() {
			return Optional.empty();
		}

	}

	static class ReturnsIterable {

		@DistributedLock(key = "'a'")
		public Iterable<String> lock() {
			return List.of();
		}

	}

	@ParameterizedTest
	@CsvSource({ "io.reactivex.rxjava3.core, class Completable", "io.reactivex.rxjava3.core, class Maybe",
			"io.reactivex.rxjava3.core, class Observable", "io.reactivex.rxjava3.core, class Single",
			"org.reactivestreams, interface Publisher" })
	@Tag("F08")
	void reactiveReturnFailsTheStart(String packageName, String declaration, @TempDir Path sources) throws Exception {
		String type = declaration.substring(declaration.indexOf(' ') + 1);
		Path source = sources.resolve(packageName.replace('.', '/')).resolve(type + ".java");
		Files.createDirectories(source.getParent());
		Files.writeString(source, "package %s; public %s { }".formatted(packageName, declaration));
		TestCompiler compiler = new TestCompiler();
		assertThat(compiler.compile("Reactive", """
				public class Reactive {
					@io.github.holdfast.DistributedLock(key = "'a'")
					public %s.%s lock() {
						return null;
					}
				}
				""".formatted(packageName, type), "-sourcepath", sources.toString())).as(compiler::messages).isTrue();
		assertFailure(compiler.load("Reactive"), "returns a " + type + " before its work is done");
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
	@ValueSource(classes = { BadWaitTime.class, BadLeaseTime.class, BadMaxHoldTime.class, BadMinHoldTime.class })
	void durationThatIsNotUsableFailsTheStart(Class<?> bean) {
		assertFailure(bean, bean.getSimpleName() + ".lock() is not usable");
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
	void sharedModeOnADatabaseFailsTheStart() {
		for (String mode : List.of("transaction", "lease")) {
			assertFailure(LockedApplication.h2().withPropertyValues("holdfast.jdbc.mode=" + mode), SharedMode.class,
					"SharedMode.lock()", "needs [SHARED]", "backend 'jdbc'",
					"'redis', 'redisson', 'zookeeper' or 'etcd'", "or remove 'mode'");
		}
	}

	static class SharedMode {

		@DistributedLock(key = "'a'", mode = LockMode.SHARED)
		public void lock() {
		}

	}

	@Test
	void fairOrderThatTheBackendDoesNotHaveFailsTheStart() {
		assertFailure(LockedApplication.h2(), FairOrder.class, "needs [FAIR]", "backend 'jdbc'",
				"'redis', 'redisson', 'zookeeper' or 'etcd'");
	}

	@Test
	void fairOrderThatTheBackendHasIsAccepted() {
		LockedApplication.local().withBean(FairOrder.class).run((context) -> assertThat(context).hasNotFailed());
	}

	static class FairOrder {

		@DistributedLock(key = "'a'", fair = true)
		public void lock() {
		}

	}

	@Test
	void optimisticModeWithoutAFenceFailsTheStart() {
		String[] text = { "OptimisticMode.lock()", "'holdfast.backend: jdbc' and 'holdfast.commit-guard: fence'" };
		assertFailure(OptimisticMode.class, text);
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
	void optimisticModeWithFairOrderFailsTheStart() {
		assertFailure(LockedApplication.h2(), FairOptimism.class, "FairOptimism.lock()",
				"is optimistic, so nothing is held");
	}

	static class FairOptimism {

		@DistributedLock(key = "'a'", mode = LockMode.OPTIMISTIC, fair = true)
		public void lock() {
		}

	}

	@Test
	void optimisticModeWithAHoldTimeFailsTheStart() {
		assertFailure(LockedApplication.h2(), HeldOptimism.class, "HeldOptimism.lock()",
				"is optimistic, so nothing is held", "'holdfast.locks'");
	}

	static class HeldOptimism {

		@DistributedLock(key = "'a'", mode = LockMode.OPTIMISTIC, minHoldTime = "1s")
		public void lock() {
		}

	}

	// Order and scope

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

	@Test
	void lazyBeanIsCheckedWhenItIsCreated() {
		LockedApplication.h2()
			.withBean(SharedMode.class, SharedMode::new, (definition) -> definition.setLazyInit(true))
			.run((context) -> assertThatExceptionOfType(BeanCreationException.class)
				.isThrownBy(() -> context.getBean(SharedMode.class))
				.withRootCauseInstanceOf(UnsupportedOperationException.class));
	}

	@Test
	void prototypeBeanIsCheckedWhenItIsCreated() {
		LockedApplication.local()
			.withBean(BareName.class, BareName::new,
					(definition) -> definition.setScope(BeanDefinition.SCOPE_PROTOTYPE))
			.run((context) -> assertThatExceptionOfType(BeanCreationException.class)
				.isThrownBy(() -> context.getBean(BareName.class))
				.havingRootCause()
				.isInstanceOf(LockConfigurationException.class)
				.withMessageContaining("bare name 'sku'"));
	}

	// Class level

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
