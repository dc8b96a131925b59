package io.github.holdfast.lab;

import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.ActiveProfiles;

import io.github.holdfast.lab.Verdict.Code;
import io.github.holdfast.lab.strategy.OrderView;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A lock that waits sells exactly what there is, however busy the machine.
 */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT, properties = "lab.wait-time=5m")
@ActiveProfiles("lab")
@DirtiesContext
@Tag("long")
class LabSaleTests {

	@LocalServerPort
	private int port;

	private LabClient lab;

	@BeforeEach
	void setUp() {
		this.lab = new LabClient(this.port);
	}

	@Test
	void fourNodesSellWhatThereIs() {
		int nodes = 4;
		for (String strategy : new String[] { "holdfast-jdbc", "for-update" }) {
			String id = this.lab.start("""
					{"strategy": "%s", "stock": 50, "orders": 80, "concurrency": 20, "nodes": %d}""".formatted(strategy,
					nodes));
			Run.View run = this.lab.await(id);
			assertThat(run.nodes()).hasSize(nodes).extracting(LabNode.View::state).containsOnly(LabNode.State.UP);
			assertThat(run.facts()).extracting(Trial.Facts::sold, Trial.Facts::refused, Trial.Facts::stockAfter)
				.containsExactly(50L, 30, 0L);
			assertThat(this.lab.orders(id)).extracting(OrderView::node)
				.contains(IntStream.rangeClosed(1, nodes).boxed().toArray(Integer[]::new));
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 10, 20, 50, 100 })
	void hundredOrdersSellHundredPiecesHoweverManyComeAtOnce(int concurrency) {
		Run.View run = this.lab.run("""
				{"strategy": "holdfast-jdbc", "stock": 100, "orders": 100, "concurrency": %d}"""
			.formatted(concurrency));
		assertThat(run.facts())
			.extracting(Trial.Facts::sold, Trial.Facts::stockAfter, Trial.Facts::refused, Trial.Facts::busy,
					Trial.Facts::failed)
			.containsExactly(100L, 0L, 0, 0, 0);
	}

	@Test
	void sixtyOrdersInASecondSellFiftyPieces() {
		Run.View run = this.lab.run("""
				{"strategy": "holdfast-jdbc", "stock": 50, "orders": 60, "concurrency": 60, "ratePerSecond": 60}""");
		assertThat(run.facts()).extracting(Trial.Facts::sold, Trial.Facts::refused, Trial.Facts::stockAfter)
			.containsExactly(50L, 10, 0L);
	}

	/** Both are right; one of them keeps orders for different things from each other. */
	@ParameterizedTest
	@CsvSource({ "one-lock-for-all, false", "lock-table, true" })
	void lockForEachSkuLetsOrdersForDifferentThingsWorkAtOnce(String strategy, boolean atOnce) {
		Run.View run = this.lab
			.run("""
					{"strategy": "%s", "stock": 45, "orders": 60, "concurrency": 10, "nodes": 2, "workMs": 20, "skus": 10}"""
				.formatted(strategy));
		assertThat(run.verdict()).extracting(Verdict::code).isEqualTo(Code.RIGHT);
		assertThat(run.facts())
			.extracting(Trial.Facts::sold, Trial.Facts::refused, Trial.Facts::stockBefore, Trial.Facts::stockAfter)
			.containsExactly(45L, 15, 45L, 0L);
		List<OrderView> sold = this.lab.orders(run.id())
			.stream()
			.filter((order) -> order.outcome() == OrderView.Outcome.SOLD)
			.sorted(Comparator.comparing(OrderView::acquired))
			.toList();
		assertThat(IntStream.range(1, sold.size()).anyMatch((i) -> sold.get(i).acquired() < sold.get(i - 1).writeAt()))
			.isEqualTo(atOnce);
	}

}
