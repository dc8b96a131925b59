package io.github.holdfast.transaction;

import java.util.List;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.context.ApplicationContext;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.LeaseCalls;
import io.github.holdfast.testsupport.TestBackend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** A locked call inside a transaction that began before it, at each isolation level. */
class OuterTransactionTests {

	@ParameterizedTest
	@EnumSource(TestBackend.class)
	void callInsideAnOuterTransactionIsRefusedBeforeAnythingIsAcquired(TestBackend backend) {
		backend.application().withBean(LeaseCalls.class).withBean(StockService.class).run((context) -> {
			for (Isolation isolation : List.of(Isolation.READ_COMMITTED, Isolation.REPEATABLE_READ,
					Isolation.SERIALIZABLE)) {
				refused(context, isolation, true);
				refused(context, isolation, false);
			}
			assertThat(context.getBean(LeaseCalls.class).owners()).isEmpty();
			assertThat(context.getBean(StockService.class).quantity("A")).isEqualTo(100);
		});
	}

	private static void refused(ApplicationContext context, Isolation isolation, boolean readFirst) {
		StockService stock = context.getBean(StockService.class);
		TransactionTemplate outer = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
		outer.setIsolationLevel(isolation.value());
		outer.executeWithoutResult((status) -> {
			if (readFirst) {
				assertThat(stock.quantity("A")).isEqualTo(100);
			}
			assertThatIllegalStateException().as("%s, read first: %s", isolation, readFirst)
				.isThrownBy(() -> stock.take("A", () -> {
				}))
				.withMessageContaining("Lock 'stock:A'")
				.withMessageContaining("inside a running transaction");
			assertThatIllegalStateException().isThrownBy(() -> context.getBean(LockTemplate.class).acquire("A"));
		});
	}

}
