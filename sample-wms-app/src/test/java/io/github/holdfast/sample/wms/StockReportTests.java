package io.github.holdfast.sample.wms;

import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the service does when it is asked for a report again and again.
 */
interface StockReportTests {

	Warehouse warehouse();

	@Test
	default void reportIsTakenOnceWhenManyAskAtTheSameTime() throws Exception {
		warehouse().receive("A", 10);
		List<Object> earlier = reports();
		List<Answer> answers = Clients.call(16, (i) -> Answer.of(warehouse().post("/stock-reports", "")));
		assertThat(answers).extracting(Answer::status).containsOnlyOnce(201).containsOnly(201, 204);
		assertThat(reports()).hasSize(earlier.size() + 1);
		assertThat(answers).filteredOn((answer) -> answer.status() == 201)
			.allMatch((answer) -> reports().contains(answer.read("$")))
			.allMatch((answer) -> answer.<Integer>read("$.pieces") >= 10);
	}

	default List<Object> reports() {
		return Answer.of(warehouse().get("/stock-reports")).read("$");
	}

}
