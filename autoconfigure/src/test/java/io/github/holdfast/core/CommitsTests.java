package io.github.holdfast.core;

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
 * Tests for {@link Commits}: which transaction is the one that a body consists of.
 */
class CommitsTests {

	private static final LockSpec.Body NAMED = body(Propagation.REQUIRED, "body");

	private final TransactionExecution body = new Transaction("body");

	private final CleanUps cleanUps = new CleanUps();

	@BeforeEach
	void cleanUpsAreLong() {
		this.cleanUps.took(Duration.ofMillis(1).toNanos());
	}

	private static LockSpec.Body body(Propagation propagation, String transactionName) {
		return new LockSpec.Body(propagation, () -> null, BodyTransaction.of(transactionName));
	}

	@AfterEach
	void endTransaction() {
		TransactionSynchronizationManager.setActualTransactionActive(false);
	}

	@Test
	void theBodysIsTheOneOfItsName() {
		Commits commits = Commits.of(NAMED, false, this.cleanUps);
		TransactionExecution other = new Transaction("other");
		commits.begun(this.body);
		commits.begun(other);
		assertThat(commits.committed(this.body, false)).isTrue();
		assertThat(commits.committed(other, false)).isFalse();
	}

	@Test
	void theBodysIsUnknownIfThereAreSeveralOfItsName() {
		Commits commits = Commits.of(NAMED, false, this.cleanUps);
		TransactionExecution second = new Transaction("body");
		commits.begun(this.body);
		commits.begun(second);
		commits.begun(new Transaction("body"));
		assertThat(commits.committed(this.body, false)).isFalse();
		assertThat(commits.committed(second, false)).isFalse();
	}

	@Test
	void theBodysIsUnknownWithoutAName() {
		Commits commits = Commits.of(LockSpec.DEFAULT.body(), false, this.cleanUps);
		commits.begun(this.body);
		assertThat(commits.committed(this.body, false)).isFalse();
	}

	@Test
	void theBodysIsUnknownIfTheBodyMayJoinARunningOne() {
		TransactionSynchronizationManager.setActualTransactionActive(true);
		Commits commits = Commits.of(NAMED, false, this.cleanUps);
		commits.begun(this.body);
		assertThat(commits.committed(this.body, false)).isFalse();
	}

	@Test
	void theBodysIsNewBesideARunningOne() {
		TransactionSynchronizationManager.setActualTransactionActive(true);
		Commits commits = Commits.of(body(Propagation.REQUIRES_NEW, "body"), false, this.cleanUps);
		commits.begun(this.body);
		assertThat(commits.committed(this.body, false)).isTrue();
	}

	@Test
	void doesNotEndBeforeTheBodyIfCleanUpsAreShort() {
		this.cleanUps.took(0);
		Commits commits = Commits.of(NAMED, false, this.cleanUps);
		commits.begun(this.body);
		assertThat(commits.committed(this.body, false)).isFalse();
	}

	@Test
	void tellsHowLongItTookFromTheCommitToTheEndOfTheBody() {
		this.cleanUps.took(0);
		Commits commits = Commits.of(NAMED, false, this.cleanUps);
		commits.begun(this.body);
		commits.bodyOver();
		assertThat(this.cleanUps.areLong()).isFalse();
		commits.committed(this.body, false);
		long commit = System.nanoTime();
		await().until(() -> System.nanoTime() - commit > Duration.ofMillis(1).toNanos());
		commits.bodyOver();
		assertThat(this.cleanUps.areLong()).isTrue();
		await().untilAsserted(() -> {
			commits.committed(this.body, false);
			commits.bodyOver();
			assertThat(this.cleanUps.areLong()).isFalse();
		});
	}

	private record Transaction(String getTransactionName) implements TransactionExecution {
	}

}
