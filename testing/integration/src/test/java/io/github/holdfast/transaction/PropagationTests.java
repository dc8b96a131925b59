package io.github.holdfast.transaction;

import java.util.function.Function;
import java.util.function.LongSupplier;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.LeaseCalls;
import io.github.holdfast.testsupport.TestBackend;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The lock is checked once for each real commit, however transactions are nested. */
class PropagationTests {

	private static final String CLAIM = "UPDATE holdfast_lock SET expires_at";

	private static final String CHECK = "SELECT 1 FROM holdfast_lock";

	@ParameterizedTest
	@EnumSource(TestBackend.class)
	void leaseIsCheckedOncePerCommit(TestBackend backend) {
		run(backend.application().withPropertyValues("holdfast.commit-guard=lease").withBean(LeaseCalls.class), false,
				(context) -> {
					LeaseCalls calls = context.getBean(LeaseCalls.class);
					return new Counter(calls::clear, () -> calls.count("isAlive"));
				});
	}

	/** PostgreSQL is asked when the transaction begins, and not again at its commit. */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void rowIsCheckedOncePerCommit(TestDatabase database) {
		boolean atBegin = database == TestDatabase.POSTGRESQL;
		run(TestBackend.valueOf(database.name())
			.application()
			.withUserConfiguration(RecordingDataSource.Beans.class)
			.withPropertyValues(RecordingDataSource.GUARDED), atBegin, (context) -> {
				RecordingDataSource dataSource = context.getBean(RecordingDataSource.class);
				return new Counter(dataSource::clear,
						() -> dataSource.statements()
							.stream()
							.filter((sql) -> sql.contains(CHECK) || atBegin && sql.contains(CLAIM))
							.count());
			});
	}

	private static void run(ApplicationContextRunner application, boolean atBegin,
			Function<ApplicationContext, Counter> counters) {
		application.withBean(StockService.class).run((context) -> {
			Checks checks = new Checks(context, counters.apply(context));
			assertThat(checks.of(Propagation.NESTED, true)).as("the release of a savepoint is no commit").isOne();
			assertThat(checks.of(Propagation.REQUIRED, true)).isOne();
			assertThat(checks.of(Propagation.SUPPORTS, true)).isOne();
			assertThat(checks.of(Propagation.MANDATORY, true)).isOne();
			assertThat(checks.of(Propagation.NOT_SUPPORTED, true)).isOne();
			assertThat(checks.of(Propagation.REQUIRES_NEW, true)).isEqualTo(2);
			assertThatExceptionOfType(IllegalTransactionStateException.class)
				.isThrownBy(() -> checks.of(Propagation.NEVER, true));
			assertThat(checks.counter.count()).as("the outer transaction was rolled back").isEqualTo(atBegin ? 1 : 0);
			assertThat(checks.of(Propagation.REQUIRED, false)).isOne();
			assertThat(checks.of(Propagation.REQUIRES_NEW, false)).isOne();
			assertThat(checks.of(Propagation.NESTED, false)).isOne();
			assertThat(checks.of(Propagation.SUPPORTS, false)).isZero();
			assertThat(checks.of(Propagation.NOT_SUPPORTED, false)).isZero();
			assertThat(checks.of(Propagation.NEVER, false)).isZero();
			assertThatExceptionOfType(IllegalTransactionStateException.class)
				.isThrownBy(() -> checks.of(Propagation.MANDATORY, false));
			assertThat(context.getBean(StockService.class).quantity("B")).isEqualTo(1);
		});
	}

	private record Checks(ApplicationContext context, Counter counter) {

		private long of(Propagation propagation, boolean outer) {
			this.context.getBean(LockTemplate.class).run("propagation", () -> {
				this.counter.clear().run();
				if (outer) {
					transaction(Propagation.REQUIRED, "A", () -> transaction(propagation, "B", () -> {
					}));
				}
				else {
					transaction(propagation, "B", () -> {
					});
				}
			});
			return this.counter.count();
		}

		private void transaction(Propagation propagation, String sku, Runnable inner) {
			TransactionTemplate transaction = new TransactionTemplate(
					this.context.getBean(PlatformTransactionManager.class));
			transaction.setPropagationBehavior(propagation.value());
			transaction.executeWithoutResult((status) -> {
				this.context.getBean(StockService.class).write(sku, 1);
				inner.run();
			});
		}

	}

	private record Counter(Runnable clear, LongSupplier checks) {

		private long count() {
			return this.checks.getAsLong();
		}

	}

}
