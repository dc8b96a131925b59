package io.github.holdfast.core;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Commits}: which transaction is the one that a body consists of.
 */
class CommitsTests {

	private static final LockSpec.Body NAMED = body(Propagation.REQUIRED, "body");

	private final TransactionExecution body = new Transaction("body");

	private static LockSpec.Body body(Propagation propagation, String transactionName) {
		return new LockSpec.Body(propagation, () -> null, BodyTransaction.of(transactionName));
	}

	@AfterEach
	void endTransaction() {
		TransactionSynchronizationManager.setActualTransactionActive(false);
	}

	@Test
	void theBodysIsTheOneOfItsName() {
		Commits commits = Commits.of(NAMED, false);
		TransactionExecution other = new Transaction("other");
		commits.begun(this.body);
		commits.begun(other);
		assertThat(isBody(commits, other)).isFalse();
		assertThat(isBody(commits, this.body)).isTrue();
	}

	@Test
	void theBodysIsUnknownIfThereAreSeveralOfItsName() {
		Commits commits = Commits.of(NAMED, false);
		TransactionExecution second = new Transaction("body");
		commits.begun(this.body);
		commits.begun(second);
		commits.begun(new Transaction("body"));
		assertThat(isBody(commits, this.body)).isFalse();
		assertThat(isBody(commits, second)).isFalse();
	}

	@Test
	void theBodysIsUnknownWithoutAName() {
		Commits commits = Commits.of(LockSpec.DEFAULT.body(), false);
		commits.begun(this.body);
		assertThat(isBody(commits, this.body)).isFalse();
	}

	@Test
	void theBodysIsUnknownIfTheBodyMayJoinARunningOne() {
		TransactionSynchronizationManager.setActualTransactionActive(true);
		Commits commits = Commits.of(NAMED, false);
		commits.begun(this.body);
		assertThat(isBody(commits, this.body)).isFalse();
	}

	@Test
	void theBodysIsNewBesideARunningOne() {
		TransactionSynchronizationManager.setActualTransactionActive(true);
		Commits commits = Commits.of(body(Propagation.REQUIRES_NEW, "body"), false);
		commits.begun(this.body);
		assertThat(isBody(commits, this.body)).isTrue();
	}

	@Test
	void theBodysIsNotGuardedIfCallbacksMayHaveDoneMore() {
		Commits commits = Commits.of(NAMED, false);
		commits.begun(this.body);
		commits.guarded(this.body);
		commits.committed(this.body, true);
		assertThat(commits.isBodyGuarded()).isFalse();
	}

	private static boolean isBody(Commits commits, TransactionExecution transaction) {
		commits.guarded(transaction);
		commits.committed(transaction, false);
		return commits.isBodyGuarded();
	}

	private record Transaction(String getTransactionName) implements TransactionExecution {
	}

}
