package io.github.holdfast;

import java.time.Duration;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link BodyTransaction}.
 */
class BodyTransactionTests {

	private static final LockSettings NAMED = LockSettings.DEFAULT.withPropagation(Propagation.REQUIRED, () -> null)
		.withTransactionName("body");

	private final TransactionExecution body = new Transaction("body");

	private final CleanUps cleanUps = new CleanUps();

	@BeforeEach
	void cleanUpsAreLong() {
		this.cleanUps.took(Duration.ofMillis(1).toNanos());
	}

	@AfterEach
	void endTransaction() {
		TransactionSynchronizationManager.setActualTransactionActive(false);
	}

	@Test
	void isTheOneOfItsName() {
		BodyTransaction transaction = BodyTransaction.of(NAMED, this.cleanUps);
		TransactionExecution other = new Transaction("other");
		transaction.begun(this.body);
		transaction.begun(other);
		assertThat(transaction.committed(this.body)).isTrue();
		assertThat(transaction.committed(other)).isFalse();
	}

	@Test
	void isUnknownIfThereAreSeveralOfItsName() {
		BodyTransaction transaction = BodyTransaction.of(NAMED, this.cleanUps);
		TransactionExecution second = new Transaction("body");
		transaction.begun(this.body);
		transaction.begun(second);
		transaction.begun(new Transaction("body"));
		assertThat(transaction.committed(this.body)).isFalse();
		assertThat(transaction.committed(second)).isFalse();
	}

	@Test
	void isUnknownWithoutAName() {
		BodyTransaction transaction = BodyTransaction.of(LockSettings.DEFAULT, this.cleanUps);
		transaction.begun(this.body);
		assertThat(transaction.committed(this.body)).isFalse();
	}

	@Test
	void isUnknownIfTheBodyMayJoinARunningOne() {
		TransactionSynchronizationManager.setActualTransactionActive(true);
		BodyTransaction transaction = BodyTransaction.of(NAMED, this.cleanUps);
		transaction.begun(this.body);
		assertThat(transaction.committed(this.body)).isFalse();
	}

	@Test
	void isNewBesideARunningOne() {
		TransactionSynchronizationManager.setActualTransactionActive(true);
		BodyTransaction transaction = BodyTransaction.of(NAMED.withPropagation(Propagation.REQUIRES_NEW, () -> null),
				this.cleanUps);
		transaction.begun(this.body);
		assertThat(transaction.committed(this.body)).isTrue();
	}

	@Test
	void doesNotEndBeforeTheBodyIfCleanUpsAreShort() {
		this.cleanUps.took(0);
		BodyTransaction transaction = BodyTransaction.of(NAMED, this.cleanUps);
		transaction.begun(this.body);
		assertThat(transaction.committed(this.body)).isFalse();
	}

	@Test
	void tellsHowLongItTookFromTheCommitToTheEndOfTheBody() {
		this.cleanUps.took(0);
		BodyTransaction transaction = BodyTransaction.of(NAMED, this.cleanUps);
		transaction.begun(this.body);
		transaction.over();
		assertThat(this.cleanUps.areLong()).isFalse();
		transaction.committed(this.body);
		long commit = System.nanoTime();
		await().until(() -> System.nanoTime() - commit > Duration.ofMillis(1).toNanos());
		transaction.over();
		assertThat(this.cleanUps.areLong()).isTrue();
		await().untilAsserted(() -> {
			transaction.committed(this.body);
			transaction.over();
			assertThat(this.cleanUps.areLong()).isFalse();
		});
	}

	private record Transaction(String getTransactionName) implements TransactionExecution {
	}

}
