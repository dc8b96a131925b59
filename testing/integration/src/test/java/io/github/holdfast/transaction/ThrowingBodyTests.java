package io.github.holdfast.transaction;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.LeaseCalls;
import io.github.holdfast.testsupport.TestBackend;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * A locked method ends in an exception: the lock is released once, and the caller gets
 * what the method threw.
 */
@ExtendWith(OutputCaptureExtension.class)
class ThrowingBodyTests {

	@ParameterizedTest
	@EnumSource(TestBackend.class)
	void lockIsReleasedOnceAndTheFailureReachesTheCaller(TestBackend backend) {
		backend.application().withBean(LeaseCalls.class).withBean(Service.class).run((context) -> {
			Service service = context.getBean(Service.class);
			for (Throwable thrown : List.of(new IllegalStateException("body"), new IOException("body"),
					new OutOfMemoryError("body"))) {
				Body body = () -> {
					throw thrown;
				};
				assertThat(catchThrowable(() -> service.byDefaultRules(body))).isSameAs(thrown);
				assertOnlyOneRelease(context);
				assertThat(service.rows()).isEqualTo((thrown instanceof IOException) ? 1 : 0);
				assertThat(catchThrowable(() -> service.rollingBack(body))).isSameAs(thrown);
				assertOnlyOneRelease(context);
				assertThat(service.rows()).isEqualTo((thrown instanceof IOException) ? 1 : 0);
				assertThat(catchThrowable(() -> service.withoutTransaction(body))).isSameAs(thrown);
				assertOnlyOneRelease(context);
				service.clear();
			}
		});
	}

	/** The store is gone when the lock is to be released. */
	@ParameterizedTest
	@EnumSource(names = "POSTGRESQL")
	void failureOfTheMethodReachesTheCallerWhenTheReleaseFailsToo(TestDatabase database, CapturedOutput output) {
		TestBackend.valueOf(database.name()).application().withBean(Service.class).run((context) -> {
			Service service = context.getBean(Service.class);
			IllegalStateException thrown = new IllegalStateException("body");
			assertThat(catchThrowable(() -> service.withoutTransaction(() -> {
				context.getBean(JdbcTemplate.class).execute("DROP TABLE holdfast_lock");
				throw thrown;
			}))).isSameAs(thrown);
			assertThat(LockContext.current()).isEmpty();
		});
		assertThat(output).contains("Lock 'holdfast:throwing' could not be released; it expires unless");
	}

	private static void assertOnlyOneRelease(ApplicationContext context) {
		LeaseCalls calls = context.getBean(LeaseCalls.class);
		assertThat(calls.count("release")).isEqualTo(1);
		assertThat(LockContext.current()).isEmpty();
		LockTemplate locks = context.getBean(LockTemplate.class);
		CompletableFuture.runAsync(() -> locks.acquire("throwing").close()).orTimeout(30, TimeUnit.SECONDS).join();
		calls.clear();
	}

	static class Service {

		private final JdbcTemplate jdbc;

		Service(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
			jdbc.execute("CREATE TABLE work (id integer)");
		}

		void clear() {
			this.jdbc.update("DELETE FROM work");
		}

		int rows() {
			Integer rows = this.jdbc.queryForObject("SELECT count(*) FROM work", Integer.class);
			return (rows != null) ? rows : -1;
		}

		@DistributedLock(key = "'throwing'")
		@Transactional
		public void byDefaultRules(Body body) throws Throwable {
			insertAndCall(body);
		}

		@DistributedLock(key = "'throwing'")
		@Transactional(rollbackFor = Throwable.class)
		public void rollingBack(Body body) throws Throwable {
			insertAndCall(body);
		}

		@DistributedLock(key = "'throwing'")
		public void withoutTransaction(Body body) throws Throwable {
			insertAndCall(body);
		}

		private void insertAndCall(Body body) throws Throwable {
			this.jdbc.update("INSERT INTO work VALUES (1)");
			body.call();
		}

	}

	@FunctionalInterface
	interface Body {

		void call() throws Throwable;

	}

}
