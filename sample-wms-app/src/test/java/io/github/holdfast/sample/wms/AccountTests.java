package io.github.holdfast.sample.wms;

import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the service does with money.
 */
interface AccountTests {

	Warehouse warehouse();

	@Test
	default void depositOpensAccountAndAddsToIt() {
		assertThat(deposit("A", 100)).isEqualTo(100);
		assertThat(deposit("A", 50)).isEqualTo(150);
		assertThat(balance("A")).isEqualTo(150);
	}

	@Test
	default void transferMovesMoney() {
		deposit("A", 100);
		deposit("B", 10);
		Answer answer = transfer("A", "B", 100);
		assertThat(answer.status()).isEqualTo(200);
		assertThat(answer.<List<Integer>>read("$[*].balance")).containsExactly(0, 110);
		assertThat(balance("A")).isZero();
		assertThat(balance("B")).isEqualTo(110);
	}

	@Test
	default void transferToTheSameAccountMovesNothing() {
		deposit("A", 100);
		assertThat(transfer("A", "A", 40).status()).isEqualTo(200);
		assertThat(balance("A")).isEqualTo(100);
	}

	@Test
	default void transferOfMoreThanThereIsMovesNothing() {
		deposit("A", 100);
		deposit("B", 10);
		assertThat(transfer("A", "B", 101)).matches((answer) -> answer.status() == 409)
			.matches((answer) -> answer.read("$.type").equals("urn:problem:wms:insufficient-funds"));
		assertThat(balance("A")).isEqualTo(100);
		assertThat(balance("B")).isEqualTo(10);
	}

	@Test
	default void transferToUnknownAccountMovesNothing() {
		deposit("A", 100);
		assertThat(transfer("A", "B", 1)).matches((answer) -> answer.status() == 404)
			.matches((answer) -> answer.read("$.type").equals("urn:problem:wms:unknown-account"));
		assertThat(balance("A")).isEqualTo(100);
	}

	@Test
	default void transfersInBothDirectionsAtTheSameTimeKeepTheSum() throws Exception {
		deposit("A", 30);
		deposit("B", 30);
		List<Answer> answers = Clients.call(64,
				(i) -> (i % 2 == 0) ? transfer("A", "B", 1 + i % 11) : transfer("B", "A", 1 + i % 13));
		assertThat(answers).extracting(Answer::status).containsOnly(200, 409).contains(200);
		assertThat(answers).filteredOn((answer) -> answer.status() == 409)
			.allMatch((answer) -> answer.read("$.type").equals("urn:problem:wms:insufficient-funds"));
		assertThat(balance("A")).isNotNegative();
		assertThat(balance("B")).isNotNegative();
		assertThat(balance("A") + balance("B")).isEqualTo(60);
	}

	default int deposit(String account, int amount) {
		return Answer.of(warehouse().post("/accounts/deposits", """
				{"requestId": "%s", "accountNo": "%s", "amount": %d}
				""".formatted(RequestTests.newId(), accountNo(account), amount))).read("$.balance");
	}

	default Answer transfer(String from, String to, int amount) {
		return Answer.of(warehouse().post("/accounts/transfers", """
				{"requestId": "%s", "from": "%s", "to": "%s", "amount": %d}
				""".formatted(RequestTests.newId(), accountNo(from), accountNo(to), amount)));
	}

	default int balance(String account) {
		return Answer.of(warehouse().get("/accounts/{accountNo}", accountNo(account))).read("$.balance");
	}

	private String accountNo(String account) {
		return warehouse().customerNo() + "." + account;
	}

}
