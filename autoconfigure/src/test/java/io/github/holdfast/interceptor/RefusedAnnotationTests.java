package io.github.holdfast.interceptor;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.stream.Stream;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.autoconfigure.LockedApplication;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Annotations that cannot work: the start says where, what is wrong and what to do. */
class RefusedAnnotationTests {

	/** The members of a bean, and what its message contains in the lines after that. */
	private static final String MISTAKES = """
			@DistributedLock(key = "'inventory:' + #sku") public void lock(String stock, int quantity) {}
				"'inventory:' + #sku"
				Bean.lock(String, int)
				#sku, but the method has no such parameter
				Use one of [#stock, #quantity]
			@DistributedLock(key = "#skus.![#prefx + #this]") public void lock(String prefix, List<String> skus) {}
				#prefx
				Use one of [#prefix, #skus]
			@DistributedLock(key = "#sku") public void lock() {}
				#sku
				The method has no parameters at all: add one
			@DistributedLock(key = "#p1") public void lock(String sku) {}
				#p1
				Use one of [#sku]
			@DistributedLock(key = "'inventory:' + sku") public void lock(String sku) {}
				uses the bare name 'sku'
				Write "#sku" for a parameter
				"'sku'"
			@DistributedLock(key = "@keys.of('inventory:' + #sku)") public void lock(String sku) {}
				joins text in an argument of a call
				separate arguments
			@DistributedLock(key = "inventory:#sku") public void lock(String sku) {}
				"inventory:#sku"
				is not a SpEL expression
				single quotes
			@DistributedLock(key = "#hash(#sku)") public void lock(String sku) {}
				calls a function that does not exist
				@bean.method
			@DistributedLock(key = " ") public void lock() {}
				Bean.lock() is blank
				Give a SpEL expression
			@DistributedLock public void lock() {}
				Bean.lock() is blank
				Give a SpEL expression
			@DistributedLock(key = "'${app.tenant}:' + #sku") public void lock(String sku) {}
				contains a placeholder
				@environment.getProperty('app.tenant')
			@DistributedLock(key = "'a'", condition = "#size > 10") public void lock(int quantity) {}
				The condition "#size > 10"
				Use one of [#quantity]
			@DistributedLock(key = "'a'") private void lock() {}
				Bean.lock()
				is private and so cannot be called through a proxy
				Make the method public
			@DistributedLock(key = "'a'") public static void lock() {}
				is static and so cannot be called through a proxy
			@Async @DistributedLock(key = "'a'") public CompletableFuture<String> lock() { return null; }
				before its work is done
				the @Async method of another bean
			@DistributedLock(value = "'a'", key = "'b'") public void lock() {}
				Bean.lock() cannot be read
				Set either 'value' or 'key', not both.
			@First @Second public void lock() {}
				present 2 times on
				Bean.lock()
				let its key be a list
			@First @DistributedLock(key = "'b'") public void lock() {}
				present 2 times on
			@DistributedLock(key = "'a'", onBusy = DistributedLock.OnBusy.SKIP) public int lock() { return 1; }
				no value of type int to return
				Return Integer (null when skipped)
			@DistributedLock(key = "'a'", onBusy = DistributedLock.OnBusy.SKIP, fallbackMethod = "later") public void lock() {} public void later() {}
				with onBusy = SKIP and a fallback
				Remove one of the two.
			@DistributedLock(key = "'a'", waitTime = "soon") public void lock() {}
				waitTime "
				Bean.lock() is not usable
				Write a duration such as "500ms", "2s" or "PT2S"
			@DistributedLock(key = "'a'", waitTime = "30") public void lock() {}
				waitTime "
				Bean.lock() is not usable
				Write a duration such as "500ms", "2s" or "PT2S"
			@DistributedLock(key = "'a'", leaseTime = "0s") public void lock() {}
				time must
				Bean.lock() is not usable
				'holdfast.locks'
			@DistributedLock(key = "'a'", maxHoldTime = "-1s") public void lock() {}
				time must
				Bean.lock() is not usable
				'holdfast.locks'
			@DistributedLock(key = "'a'", maxHoldTime = "2s", minHoldTime = "3s") public void lock() {}
				time must
				Bean.lock() is not usable
				'holdfast.locks'
			@DistributedLock(key = "'a'", waitTime = "${app.no-such-property}") public void lock() {}
				waitTime "${app.no-such-property}"
				Bean.lock() has a placeholder without
				Set the property, or give it a default
			@DistributedLock(key = "'a'", mode = LockMode.OPTIMISTIC, fair = true) public void lock() {}
				Bean.lock()
				is optimistic, so nothing is held
			@DistributedLock(key = "'a'", mode = LockMode.OPTIMISTIC, minHoldTime = "1s") public void lock() {}
				Bean.lock()
				is optimistic, so nothing is held
				'holdfast.locks'
			""";

	private static final String FALLBACK = """
			class Locked {
				@DistributedLock(key = "'a'", fallbackMethod = "later")
				public String lock(String sku) { return sku; }
			}
			""";

	@ParameterizedTest
	@MethodSource("mistakes")
	void mistakeFailsTheStart(String mistake) throws Exception {
		List<String> lines = mistake.lines().toList();
		assertFailure(bean(lines.get(0)), lines.stream().skip(1).map(String::strip).toArray(String[]::new));
	}

	static Stream<String> mistakes() {
		return Arrays.stream(MISTAKES.split("\n(?!\t)"));
	}

	@Test
	void missingParameterNamesFailTheStart() throws Exception {
		assertFailure(unnamed("@DistributedLock(key = \"#sku\") public void lock(String sku, int quantity) {}"),
				"#sku, but the class was compiled without parameter names", "-parameters", "[#p0, #p1]");
	}

	@Test
	void positionsWorkWithoutParameterNames() throws Exception {
		Class<?> positions = unnamed("@DistributedLock(key = \"#p0\") public void lock(String sku) {}");
		LockedApplication.local()
			.withClassLoader(positions.getClassLoader())
			.withBean(positions)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@ValueSource(strings = { "Future<String>", "CompletableFuture<String>", "CompletionStage<String>",
			"Flow.Publisher<String>", "Callable<String>", "Stream<String>", "IntStream", "Iterator<String>",
			"reactor.core.publisher.Mono<String>",
			"org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody" })
	void returnBeforeTheWorkIsDoneFailsTheStart(String type) throws Exception {
		assertFailure(bean("@DistributedLock(key = \"'a'\") public " + type + " lock() { return null; }"),
				"before its work is done: the lock would be released too early", "Lock a blocking method");
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

	@ParameterizedTest
	@ValueSource(strings = { "", "public String later(int sku) { return null; }",
			"public int later(String sku) { return 1; }", "private String later(String sku) { return sku; }",
			"public String later(String sku, IllegalStateException ex) { return null; }" })
	void fallbackThatDoesNotFitFailsTheStart(String fallback) throws Exception {
		assertFailure(compile("public class Bean extends Locked {" + fallback + "}" + FALLBACK),
				"The fallback method 'later' of @DistributedLock on", "Bean.lock(String)", "does not exist",
				"same parameters");
	}

	@Test
	void ambiguousFallbackFailsTheStart() throws Exception {
		assertFailure(compile("""
				public class Bean extends Locked {
					public String later(String sku) { return null; }
					public String later(String sku, LockNotAcquiredException ex) { return null; }
				}
				""" + FALLBACK), "exists 2 times", "Declare exactly one method of this name");
	}

	@Test
	void placeholderWithoutAValueFailsTheStartOfAnApplicationThatResolvesThem() throws Exception {
		assertFailure(
				LockedApplication.local()
					.withConfiguration(AutoConfigurations.of(PropertyPlaceholderAutoConfiguration.class)),
				bean("@DistributedLock(key = \"'a'\", waitTime = \"${app.no-such-property}\") public void lock() {}"),
				"waitTime \"${app.no-such-property}\"", "Bean.lock() has a placeholder without",
				"Set the property, or give it a default");
	}

	@Test
	void annotationOnAClassDoesNotCompile() {
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> TestCompiler.compiled("OnClass", """
				@io.github.holdfast.DistributedLock(key = "'a'")
				public class OnClass {
				}""")).withMessageContaining("OnClass.java:1");
	}

	private static Class<?> bean(String members) throws Exception {
		return compile("public class Bean {" + members + "}", "-parameters");
	}

	private static Class<?> unnamed(String members) throws Exception {
		return compile("public class Bean {" + members + "}");
	}

	private static Class<?> compile(String source, String... options) throws IOException, ClassNotFoundException {
		return TestCompiler.compiled("Bean", """
				import io.github.holdfast.*;
				import java.lang.annotation.*;
				import java.util.*;
				import java.util.concurrent.*;
				import java.util.stream.*;
				import org.springframework.scheduling.annotation.Async;
				%s
				@Retention(RetentionPolicy.RUNTIME) @DistributedLock(key = "'first'") @interface First {}
				@Retention(RetentionPolicy.RUNTIME) @DistributedLock(key = "'second'") @interface Second {}
				""".formatted(source), options);
	}

	private static void assertFailure(Class<?> bean, String... text) {
		assertFailure(LockedApplication.local(), bean, text);
	}

	private static void assertFailure(ApplicationContextRunner application, Class<?> bean, String... text) {
		LockedApplication.assertRefused(application.withClassLoader(bean.getClassLoader()).withBean("bean", bean),
				text);
	}

}
