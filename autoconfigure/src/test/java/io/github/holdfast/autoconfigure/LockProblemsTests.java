package io.github.holdfast.autoconfigure;

import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.http.converter.autoconfigure.HttpMessageConvertersAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.webmvc.autoconfigure.DispatcherServletAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.http.ResponseEntity;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.WebApplicationContext;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockNotAcquiredException;

import static org.assertj.core.api.Assertions.assertThat;

/** The response to a web client if a lock stood in the way. */
class LockProblemsTests {

	private final WebApplicationContextRunner application = new WebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class, JacksonAutoConfiguration.class,
				HttpMessageConvertersAutoConfiguration.class, DispatcherServletAutoConfiguration.class,
				WebMvcAutoConfiguration.class))
		.withPropertyValues("holdfast.backend=local", "holdfast.problemdetails.enabled=true")
		.withBean(Orders.class);

	@ParameterizedTest
	@CsvSource({ "busy, 409, The resource is locked by another request.",
			"shutdown, 503, The resource cannot be locked at the moment.",
			"lost, 409, The lock was lost; the last transaction was rolled back.",
			"failed, 503, The resource cannot be locked at the moment." })
	void problemIsToldWithATimeToTryAgain(String path, int status, String detail) {
		this.application.run((context) -> {
			MvcTestResult result = get(context, path);
			assertThat(result).hasStatus(status)
				.hasHeader("Retry-After", "1")
				.hasContentType("application/problem+json");
			assertThat(result).bodyJson().extractingPath("$.detail").isEqualTo(detail);
			assertThat(result).bodyText().doesNotContain("secret");
		});
	}

	@ParameterizedTest
	@ValueSource(classes = { OwnProblems.class, DatabaseProblems.class })
	void handlerOfTheApplicationComesFirst(Class<?> handler) {
		this.application.withBean(handler).run((context) -> assertThat(get(context, "busy")).hasStatus(423));
	}

	@Test
	void nothingIsHandledByDefault() {
		this.application.withPropertyValues("holdfast.problemdetails.enabled=false")
			.run((context) -> assertThat(get(context, "busy")).hasFailed()
				.failure()
				.hasRootCauseInstanceOf(LockNotAcquiredException.class));
	}

	@Test
	void nothingIsConfiguredWithoutSpringMvc() {
		LockedApplication.local()
			.withPropertyValues("holdfast.problemdetails.enabled=true")
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(LockProblems.class));
	}

	private static MvcTestResult get(WebApplicationContext context, String path) {
		return MockMvcTester.from(context).get().uri("/" + path).exchange();
	}

	@RestController
	static class Orders {

		@GetMapping("/{problem}")
		public String order(@PathVariable String problem) {
			throw switch (problem) {
				case "busy" -> notAcquired(LockNotAcquiredException.Reason.BUSY);
				case "shutdown" -> notAcquired(LockNotAcquiredException.Reason.SHUTDOWN);
				case "lost" -> new LockLostException("secret", "gone", null);
				case "failed" -> new LockBackendException("secret", "down", null);
				default -> new IllegalArgumentException(problem);
			};
		}

		private static RuntimeException notAcquired(LockNotAcquiredException.Reason reason) {
			return new LockNotAcquiredException("secret", reason, Duration.ZERO, "secret holder", null);
		}

	}

	@ControllerAdvice
	static class OwnProblems {

		@ExceptionHandler
		ResponseEntity<String> busy(LockNotAcquiredException ex) {
			return ResponseEntity.status(423).body("busy");
		}

	}

	/** Handles more than locks. */
	@ControllerAdvice
	static class DatabaseProblems {

		@ExceptionHandler
		ResponseEntity<String> conflict(ConcurrencyFailureException ex) {
			return ResponseEntity.status(423).body("conflict");
		}

	}

}
