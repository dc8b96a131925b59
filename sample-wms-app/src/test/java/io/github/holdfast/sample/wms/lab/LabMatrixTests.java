package io.github.holdfast.sample.wms.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.http.MediaType;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.web.client.RestClient;

import io.github.holdfast.sample.wms.lab.Verdict.Code;
import io.github.holdfast.sample.wms.lab.strategy.StrategyType;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Each strategy gets the verdicts that {@code docs/lab.md} says, and the waiting lock
 * sells exactly what there is.
 */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
@ActiveProfiles("lab")
@DirtiesContext
@Tag("long")
class LabMatrixTests {

	private static final Path PAGE = Path.of("..", "docs", "lab.md");

	private static final Pattern ROW = Pattern
		.compile("^\\| `([a-z-]+)` \\| ([a-z ]+) \\| ([a-z ]+) \\| ([a-z ]*|–) \\| ([a-z ]*|–) \\|", Pattern.MULTILINE);

	/** What is wrong need not show at once. */
	private static final int ATTEMPTS = 10;

	@LocalServerPort
	private int port;

	private LabClient lab;

	@BeforeEach
	void setUp() {
		this.lab = new LabClient(this.port);
	}

	/**
	 * Those that need the same nodes follow each other.
	 */
	static List<Row> rows() throws IOException {
		return ROW.matcher(Files.readString(PAGE))
			.results()
			.map(Row::of)
			.sorted(Comparator.comparing((row) -> row.strategy().nodeProperties().toString()))
			.toList();
	}

	@Test
	void pageNamesAllStrategies() throws IOException {
		assertThat(rows()).extracting(Row::strategy).containsExactlyInAnyOrder(StrategyType.values());
	}

	@ParameterizedTest
	@MethodSource("rows")
	void strategyGetsItsVerdicts(Row row) {
		expect(row.oneNode(), () -> this.lab.run(request(row, 1)));
		expect(row.twoNodes(), () -> this.lab.run(request(row, 2)));
		if (row.frozen() != null) {
			expect(row.frozen(), () -> this.lab.run(request(row, 2, 1000, 80, 8, 30), """
					{"kind": "FREEZE", "node": 1, "millis": 3000}"""));
		}
		if (row.killed() != null) {
			expect(row.killed(), () -> this.lab.run(request(row, 2, 1000, 40, 8, 30), """
					{"kind": "KILL", "node": 1, "millis": 100}"""));
		}
	}

	/**
	 * What is right is right each time; what is wrong shows some time.
	 */
	private static void expect(Code verdict, Supplier<RunView> run) {
		Code found;
		int attempt = 0;
		do {
			Verdict answer = run.get().verdict();
			assertThat(answer).isNotNull();
			found = answer.code();
			attempt++;
		}
		while (found != verdict && found == Code.RIGHT && attempt < ATTEMPTS);
		assertThat(found).isEqualTo(verdict);
	}

	private static String request(Row row, int nodes) {
		return switch (row.strategy()) {
			case COPIED_ASPECT -> request(row, nodes, 1000, 40, 40, 2);
			case DELETE_WITHOUT_OWNER -> request(row, nodes, 40, 80, 20, 30);
			default -> request(row, nodes, 40, 80, 20, 5);
		};
	}

	private static String request(Row row, int nodes, int stock, int orders, int concurrency, int workMs) {
		return """
				{"strategy": "%s", "nodes": %d, "stock": %d, "orders": %d, "concurrency": %d, "workMs": %d}"""
			.formatted(row.strategy().id(), nodes, stock, orders, concurrency, workMs);
	}

	@ParameterizedTest
	@ValueSource(ints = { 10, 20, 50, 100 })
	void hundredOrdersSellHundredPiecesHoweverManyComeAtOnce(int concurrency) {
		RunView run = this.lab.run("""
				{"strategy": "holdfast-jdbc-fence", "stock": 100, "orders": 100, "concurrency": %d}"""
			.formatted(concurrency));
		assertThat(run.facts()).extracting(Facts::sold, Facts::stockAfter, Facts::refused, Facts::busy, Facts::failed)
			.containsExactly(100L, 0L, 0, 0, 0);
	}

	@Test
	void sixtyOrdersInASecondSellFiftyPieces() {
		RunView run = this.lab
			.run("""
					{"strategy": "holdfast-jdbc-fence", "stock": 50, "orders": 60, "concurrency": 60, "ratePerSecond": 60}""");
		assertThat(run.facts()).extracting(Facts::sold, Facts::refused, Facts::stockAfter).containsExactly(50L, 10, 0L);
	}

	@Test
	void twoTransfersAtOnceAreBothTakenFromABalance() {
		RestClient service = RestClient.create("http://localhost:" + this.port + "/accounts");
		post(service, "/deposits", """
				{"accountNo": "L-1", "amount": 1000}""");
		post(service, "/deposits", """
				{"accountNo": "L-2", "amount": 1}""");
		post(service, "/deposits", """
				{"accountNo": "L-3", "amount": 1}""");
		CompletableFuture
			.allOf(CompletableFuture.runAsync(() -> post(service, "/transfers", """
					{"from": "L-1", "to": "L-2", "amount": 200}""")),
					CompletableFuture.runAsync(() -> post(service, "/transfers", """
							{"from": "L-1", "to": "L-3", "amount": 300}""")))
			.join();
		assertThat(service.get().uri("/L-1").retrieve().body(String.class)).contains("\"balance\":500");
	}

	private static void post(RestClient service, String path, String json) {
		service.post().uri(path).contentType(MediaType.APPLICATION_JSON).body(json).retrieve().toBodilessEntity();
	}

	/**
	 * A row of the page.
	 */
	record Row(StrategyType strategy, Code oneNode, Code twoNodes, @Nullable Code frozen, @Nullable Code killed) {

		static Row of(MatchResult row) {
			return new Row(StrategyType.of(row.group(1)).orElseThrow(), Objects.requireNonNull(code(row.group(2))),
					Objects.requireNonNull(code(row.group(3))), code(row.group(4)), code(row.group(5)));
		}

		private static @Nullable Code code(String words) {
			return Arrays.stream(Code.values())
				.filter((code) -> code.name().replace('_', ' ').equalsIgnoreCase(words))
				.findFirst()
				.orElse(null);
		}

		@Override
		public String toString() {
			return this.strategy.id();
		}

	}

}
