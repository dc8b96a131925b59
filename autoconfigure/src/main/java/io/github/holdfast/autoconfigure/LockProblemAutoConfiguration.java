package io.github.holdfast.autoconfigure;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication.Type;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.servlet.DispatcherServlet;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockNotAcquiredException;

/**
 * {@link org.springframework.boot.autoconfigure.EnableAutoConfiguration
 * Auto-configuration} for what web clients are told of locks that stood in the way. In
 * all of these cases nothing has been committed under the lock, so another try is worth
 * while. Handlers of the application come first.
 *
 * @since 0.2.0
 */
@AutoConfiguration
@ConditionalOnWebApplication(type = Type.SERVLET)
@ConditionalOnClass(DispatcherServlet.class)
@ConditionalOnBooleanProperty(name = "holdfast.problem-details", matchIfMissing = true)
public final class LockProblemAutoConfiguration {

	@Bean
	LockProblems holdfastLockProblems() {
		return new LockProblems();
	}

	@ControllerAdvice
	@Order(Ordered.LOWEST_PRECEDENCE)
	static final class LockProblems {

		private static final Logger logger = LoggerFactory.getLogger(LockProblems.class);

		@ExceptionHandler
		ResponseEntity<ProblemDetail> notAcquired(LockNotAcquiredException ex) {
			return switch (ex.reason()) {
				case BUSY, CONFLICT -> answer(HttpStatus.CONFLICT, "Others are working on the same data.");
				default -> {
					logger.warn("Not served: {}", ex.getMessage());
					yield unavailable();
				}
			};
		}

		@ExceptionHandler
		ResponseEntity<ProblemDetail> lost(LockLostException ex) {
			logger.warn("Rolled back: {}", ex.getMessage());
			return answer(HttpStatus.CONFLICT, "Others have taken over the same data.");
		}

		@ExceptionHandler
		ResponseEntity<ProblemDetail> storeFailed(LockBackendException ex) {
			logger.warn("Not served", ex);
			return unavailable();
		}

		private static ResponseEntity<ProblemDetail> unavailable() {
			return answer(HttpStatus.SERVICE_UNAVAILABLE, "The data cannot be locked at the moment.");
		}

		/**
		 * Tells neither keys nor holders.
		 */
		private static ResponseEntity<ProblemDetail> answer(HttpStatus status, String detail) {
			return ResponseEntity.status(status)
				.header(HttpHeaders.RETRY_AFTER, "1")
				.body(ProblemDetail.forStatusAndDetail(status, detail + " Try again."));
		}

	}

}
