package io.github.holdfast.sample.wms;

import java.util.Map;
import java.util.TreeMap;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the service does with the JSON of an item.
 */
interface ItemTests {

	Warehouse warehouse();

	@Test
	default void mergeSetsAndRemovesFields() {
		assertThat(extension(merge("{\"colour\": \"red\", \"weight\": 3}")))
			.isEqualTo(Map.of("colour", "red", "weight", 3));
		assertThat(extension(merge("{\"weight\": null, \"size\": {\"unit\": \"cm\"}}")))
			.isEqualTo(Map.of("colour", "red", "size", Map.of("unit", "cm")));
		assertThat(extension(item())).isEqualTo(Map.of("colour", "red", "size", Map.of("unit", "cm")));
	}

	@Test
	default void mergesAtTheSameTimeAreAllThere() throws Exception {
		Map<String, Integer> expected = new TreeMap<>();
		for (int i = 0; i < 80; i++) {
			expected.put("field" + i, i);
		}
		assertThat(Clients.call(80, (i) -> merge("{\"field" + i + "\": " + i + "}"))).extracting(Answer::status)
			.containsOnly(200);
		assertThat(extension(item())).isEqualTo(expected);
	}

	@Test
	default void mergeOfWhatIsNoObjectIsRefused() {
		assertThat(merge("[1]").status()).isEqualTo(400);
		assertThat(item().status()).isEqualTo(404);
	}

	@Test
	default void mergeOfItemWithBadSkuIsRefused() {
		assertThat(Answer.of(warehouse().patch("/items/{sku}", "{}", "A B")))
			.matches((answer) -> answer.status() == 400)
			.matches((answer) -> answer.read("$.type").equals("urn:problem:wms:invalid-request"))
			.matches((answer) -> answer.<String>read("$.errors.sku").startsWith("must be"));
	}

	@Test
	default void unknownItemIsNotFound() {
		assertThat(item()).matches((answer) -> answer.status() == 404)
			.matches((answer) -> answer.read("$.type").equals("urn:problem:wms:unknown-item"));
	}

	default Answer merge(String changes) {
		return Answer.of(warehouse().patch("/items/{sku}", changes, warehouse().customerNo()));
	}

	default Answer item() {
		return Answer.of(warehouse().get("/items/{sku}", warehouse().customerNo()));
	}

	private static Map<String, Object> extension(Answer answer) {
		return answer.read("$.extension");
	}

}
