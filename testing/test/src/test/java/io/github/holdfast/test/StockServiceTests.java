package io.github.holdfast.test;

import java.lang.reflect.Method;
import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.test.context.TestContextManager;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.test.StockApplication.StockService;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@SpringBootTest(properties = "holdfast.wait-time=200ms")
@AutoConfigureTestLocks
class StockServiceTests {

	@Autowired
	private StockService stock;

	@Autowired
	private TestLocks locks;

	@Autowired
	private JdbcClient jdbc;

	@AfterEach
	void fillUp() {
		this.jdbc.sql("UPDATE stock SET available = 10").update();
	}

	@Test
	void stockIsLockedUntilItsChangeIsCommitted() {
		this.stock.deduct("A", 1);
		assertThat(this.locks).wasHeldDuringCommit("stock:A")
			.wasReleasedAfterCommit("stock:A")
			.wasAcquiredTimes("stock:A", 1)
			.wasNotHeld("stock:B");
	}

	@Test
	void allStockIsLocked() {
		this.stock.deductAll(List.of("B", "A"));
		assertThat(this.locks).wasHeldDuringCommit("stock:A").wasHeldDuringCommit("stock:B");
	}

	@Test
	void deductFailsWhileTheStockIsBusy() {
		this.locks.makeBusy("stock:A");
		assertThatThrownBy(() -> this.stock.deduct("A", 1)).isInstanceOf(LockNotAcquiredException.class);
		assertThat(this.locks).wasBusy("stock:A").wasNotHeld("stock:A");
	}

	@Test
	void nothingIsDeductedWhenTheLockIsLost() {
		this.locks.loseAtNextCommit("stock:A");
		assertThatThrownBy(() -> this.stock.deduct("A", 1)).isInstanceOf(LockLostException.class);
		assertThat(this.stock.available("A")).isEqualTo(10);
	}

	@Test
	void deductIsRepeatedWhenTheLockIsLost() {
		this.locks.loseAtNextCommit("stock:A");
		assertThat(this.stock.deductSurely("A", 1)).isEqualTo(9);
		assertThat(this.locks).wasLost("stock:A").wasAcquiredTimes("stock:A", 2);
	}

	@Test
	void ordersEndWithTheTestMethod() throws Exception {
		TestContextManager tests = new TestContextManager(getClass());
		Method method = getClass().getDeclaredMethod("ordersEndWithTheTestMethod");
		tests.prepareTestInstance(this);
		this.locks.takeDown();
		tests.afterTestMethod(this, method, null);
		assertThat(this.stock.deduct("A", 1)).isEqualTo(9);
	}

	@Test
	void nothingIsDeductedWhileTheStoreIsDown() {
		this.locks.takeDown();
		assertThatThrownBy(() -> this.stock.deduct("A", 1)).isInstanceOf(LockBackendException.class);
		this.locks.bringUp();
		assertThat(this.stock.deduct("A", 1)).isEqualTo(9);
	}

	@Test
	void busyStockIsFreeInTheEnd() {
		this.locks.makeBusy("stock:A");
		this.locks.free("stock:A");
		assertThat(this.stock.deduct("A", 1)).isEqualTo(9);
	}

	@Test
	void missingLockIsNoticed() {
		this.stock.correct("A", 5);
		assertThatExceptionOfType(AssertionError.class)
			.isThrownBy(() -> assertThat(this.locks).wasHeldDuringCommit("stock:A"))
			.withMessage(
					"Expected lock 'stock:A' to be held during a commit, but no lock was requested: the method may "
							+ "be called on 'this' or on an object that is not a Spring bean; 1 commits in total");
	}

}
