package io.github.holdfast.sample.wms;

import java.util.List;
import java.util.UUID;

import org.junit.jupiter.api.Test;

import static io.github.holdfast.sample.wms.Warehouse.line;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the service does with an order that is submitted again and again.
 */
interface SubmissionTests {

	Warehouse warehouse();

	LockDatabase database();

	@Test
	default void submitManyTimesAtTheSameTimeCreatesOneOrder() throws Exception {
		String submission = submission("R-" + UUID.randomUUID(), line("A", 1));
		List<Answer> answers = Clients.call(32, (i) -> submit(submission));
		assertThat(answers).extracting(Answer::status).containsOnly(200);
		assertThat(answers).containsOnly(answers.get(0));
		assertThat(database().orders(warehouse().customerNo())).isEqualTo(1);
		warehouse().assertStatus(answers.get(0).read("$.orderNo"), "CREATED");
	}

	@Test
	default void submitWithOtherRequestIdCreatesAnotherOrder() {
		assertThat(submit(submission("R-" + UUID.randomUUID(), line("A", 1))))
			.isNotEqualTo(submit(submission("R-" + UUID.randomUUID(), line("A", 1))));
		assertThat(database().orders(warehouse().customerNo())).isEqualTo(2);
	}

	@Test
	default void submitOtherOrderWithSameRequestIdIsRefused() {
		String requestId = "R-" + UUID.randomUUID();
		submit(submission(requestId, line("A", 1)));
		assertThat(submit(submission(requestId, line("A", 2)))).matches((answer) -> answer.status() == 409)
			.matches((answer) -> answer.read("$.type").equals("urn:problem:wms:request-id-reused"));
		assertThat(database().orders(warehouse().customerNo())).isEqualTo(1);
	}

	default Answer submit(String submission) {
		return Answer.of(warehouse().post("/orders/submissions", submission));
	}

	default String submission(String requestId, String... lines) {
		return """
				{"requestId": "%s", "customerNo": "%s", "warehouseCode": "W1", "lines": [%s]}
				""".formatted(requestId, warehouse().customerNo(), String.join(",", lines));
	}

}
