package io.github.holdfast.test;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.jdbc.test.autoconfigure.JdbcTest;
import org.springframework.context.annotation.Import;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.test.StockApplication.StockService;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** Slices have no locks without {@link AutoConfigureTestLocks}. */
@JdbcTest
@AutoConfigureTestLocks
@Import(StockService.class)
class TestLocksInSliceTests {

	@Autowired
	private StockService stock;

	@Autowired
	private TestLocks locks;

	@Test
	@Transactional(propagation = Propagation.NOT_SUPPORTED)
	void stockIsLocked() {
		this.stock.deduct("B", 0);
		assertThat(this.locks).wasHeldDuringEachCommit("stock:B").wasReleasedAfterCommit("stock:B");
	}

	@Test
	void callInTheTransactionOfTheTestIsRefused() {
		assertThatIllegalStateException().isThrownBy(() -> this.stock.deduct("B", 0));
		assertThat(this.locks).wasNotHeld("stock:B");
	}

}
