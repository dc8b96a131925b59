package io.github.holdfast.transaction;

import java.util.List;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.autoconfigure.LockObservationAutoConfiguration;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * An application whose transactional services call locked ones learns where, before such
 * calls are refused.
 */
@ExtendWith(OutputCaptureExtension.class)
class RollingOutTests {

	private final ApplicationContextRunner refusing = LockedApplication.jdbc(TestDatabase.H2.newDatabase())
		.withConfiguration(AutoConfigurations.of(LockObservationAutoConfiguration.class))
		.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
		.withBean(StockService.class)
		.withBean(CheckoutService.class);

	private final ApplicationContextRunner reporting = this.refusing
		.withPropertyValues("holdfast.on-active-transaction=report");

	@Test
	void callInsideOfATransactionGoesOnAndIsToldOnce(CapturedOutput output) {
		this.reporting.run((context) -> {
			CheckoutService checkout = context.getBean(CheckoutService.class);
			assertThat(checkout.checkout("A")).as("keys that are held").isEmpty();
			assertThat(checkout.checkout("B")).isEmpty();
			assertThat(output).containsOnlyOnce("this call would be refused")
				.contains("RollingOutTests.StockService.deduct in "
						+ "io.github.holdfast.transaction.RollingOutTests$CheckoutService.checkout")
				.contains("Take the lock around that transaction");
			assertThat(context.getBean(JdbcTemplate.class)
				.queryForObject("SELECT count(*) FROM holdfast_lock", Integer.class)).as("locks taken").isZero();
			assertThat(reported(context.getBean(MeterRegistry.class))).isEqualTo(2);
		});
	}

	@Test
	void callOutsideOfATransactionIsLocked(CapturedOutput output) {
		this.reporting.run((context) -> {
			assertThat(context.getBean(StockService.class).deduct("A")).containsExactly("stock:A");
			assertThat(output).doesNotContain("would be refused");
		});
	}

	@Test
	void callUnderTheLockOfTheCallerIsLocked(CapturedOutput output) {
		this.reporting.run((context) -> {
			assertThat(context.getBean(CheckoutService.class).locked("A")).containsExactly("stock:A");
			assertThat(output).doesNotContain("would be refused");
		});
	}

	@Test
	void scopeAndOptimisticBodyGoOnWithoutTheLockToo() {
		this.reporting.run((context) -> {
			CheckoutService checkout = context.getBean(CheckoutService.class);
			LockTemplate locks = context.getBean(LockTemplate.class);
			checkout.inTransaction(() -> {
				try (LockTemplate.Scope scope = locks.acquire("A")) {
					assertThat(scope).isNotNull();
					assertThat(LockContext.current()).isEmpty();
				}
				locks.withMode(LockRequest.Mode.OPTIMISTIC).run("A", () -> assertThat(LockContext.current()).isEmpty());
			});
			assertThat(reported(context.getBean(MeterRegistry.class))).isEqualTo(2);
		});
	}

	@Test
	void sameCallIsRefusedByDefault() {
		this.refusing.run((context) -> assertThatIllegalStateException()
			.isThrownBy(() -> context.getBean(CheckoutService.class).checkout("A"))
			.withMessageContaining("is called inside a running transaction"));
	}

	private static double reported(MeterRegistry registry) {
		return registry.get("holdfast.locks.reported")
			.counters()
			.stream()
			.mapToDouble((counter) -> counter.count())
			.sum();
	}

	static class StockService {

		@DistributedLock(key = "'stock:' + #sku")
		@Transactional
		public List<String> deduct(String sku) {
			return LockContext.current().map(LockContext::keys).orElse(List.of());
		}

	}

	static class CheckoutService {

		private final StockService stock;

		CheckoutService(StockService stock) {
			this.stock = stock;
		}

		@Transactional
		public List<String> checkout(String sku) {
			return this.stock.deduct(sku);
		}

		@DistributedLock(key = "'stock:' + #sku")
		@Transactional
		public List<String> locked(String sku) {
			return this.stock.deduct(sku);
		}

		@Transactional
		public void inTransaction(Runnable work) {
			work.run();
		}

	}

}
