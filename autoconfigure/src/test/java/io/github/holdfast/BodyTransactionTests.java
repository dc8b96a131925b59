package io.github.holdfast;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link BodyTransaction}.
 */
class BodyTransactionTests {

	private static final LockSettings NAMED = LockSettings.DEFAULT.withPropagation(Propagation.REQUIRED)
		.withTransactionName("body");

	private final TransactionExecution body = new Transaction("body");

	@AfterEach
	void endTransaction() {
		TransactionSynchronizationManager.setActualTransactionActive(false);
	}

	@Test
	void isTheOneOfItsName() {
		BodyTransaction transaction = BodyTransaction.of(NAMED);
		TransactionExecution other = new Transaction("other");
		transaction.begun(this.body);
		transaction.begun(other);
		assertThat(transaction.is(this.body)).isTrue();
		assertThat(transaction.is(other)).isFalse();
	}

	@Test
	void isUnknownIfThereAreSeveralOfItsName() {
		BodyTransaction transaction = BodyTransaction.of(NAMED);
		TransactionExecution second = new Transaction("body");
		transaction.begun(this.body);
		transaction.begun(second);
		transaction.begun(new Transaction("body"));
		assertThat(transaction.is(this.body)).isFalse();
		assertThat(transaction.is(second)).isFalse();
	}

	@Test
	void isUnknownWithoutAName() {
		BodyTransaction transaction = BodyTransaction.of(LockSettings.DEFAULT);
		transaction.begun(this.body);
		assertThat(transaction.is(this.body)).isFalse();
	}

	@Test
	void isUnknownIfTheBodyMayJoinARunningOne() {
		TransactionSynchronizationManager.setActualTransactionActive(true);
		BodyTransaction transaction = BodyTransaction.of(NAMED);
		transaction.begun(this.body);
		assertThat(transaction.is(this.body)).isFalse();
	}

	@Test
	void isNewBesideARunningOne() {
		TransactionSynchronizationManager.setActualTransactionActive(true);
		BodyTransaction transaction = BodyTransaction.of(NAMED.withPropagation(Propagation.REQUIRES_NEW));
		transaction.begun(this.body);
		assertThat(transaction.is(this.body)).isTrue();
	}

	private record Transaction(String getTransactionName) implements TransactionExecution {
	}

}
