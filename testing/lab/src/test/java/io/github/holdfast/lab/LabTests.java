package io.github.holdfast.lab;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.http.ResponseEntity;
import org.springframework.test.context.TestPropertySource;

import io.github.holdfast.lab.Verdict.Code;
import io.github.holdfast.lab.strategy.OrderView;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;
import static org.awaitility.Awaitility.await;

/**
 * The lab over HTTP: a wrong strategy, a right one, and two holders that stand still for
 * longer than their lease. All strategies are in {@link LabMatrixTests}.
 */
@TestPropertySource(properties = "lab.wait-time=5m")
class LabTests extends RunningLab {

	@Test
	void checkInMemoryOversellsAndTheLabShowsTheFirstLostUpdate() {
		String id = this.lab
			.start("""
					{"strategy": "memory-overwrite", "stock": 60, "orders": 90, "concurrency": 12, "workMs": 4, "quantity": 2}""");
		Run.View run = this.lab.await(id);
		figuresAreThoseOfTheDatabase(run);
		assertThat(run.verdict()).extracting(Verdict::code).isEqualTo(Code.OVERSOLD);
		assertThat(run.facts()).extracting(Trial.Facts::lostUpdates).isNotEqualTo(0L);
		Trial.LostUpdate lost = this.lab.lostUpdate(id).getBody();
		assertThat(lost).isNotNull();
		assertThat(lost.first().read()).isEqualTo(lost.second().read());
		assertThat(lost.second().readAt()).isLessThan(lost.first().commit());
		assertThat(lost.first().commit()).isLessThan(lost.second().commit());
	}

	/** Orders of 200 and 300 pieces: both have read 1000, unless one waits. */
	@Test
	void thousandWithoutTwoHundredAndThreeHundredIsFiveHundredWithALock() {
		String request = """
				{"strategy": "%s", "stock": 1000, "orders": 2, "concurrency": 2, "workMs": 300, "quantities": [200, 300]}""";
		VerdictTable.expect(Code.LOST_UPDATES, () -> {
			Run.View run = this.lab.run(request.formatted("memory-overwrite"));
			figuresAreThoseOfTheDatabase(run);
			assertThat(run.facts()).extracting(Trial.Facts::reallyLeft).isEqualTo(500L);
			assertThat(run.facts()).extracting(Trial.Facts::stockAfter).isIn(500L, 700L, 800L);
			return run;
		});
		assertThat(this.lab.run(request.formatted("for-update")).facts()).extracting(Trial.Facts::stockAfter)
			.isEqualTo(500L);
	}

	/** The order that lost its lease had read the stock before the other node sold. */
	@Test
	void refusedCommitTellsWhatItWouldHaveErased() throws IOException {
		Run.View run = Stream.generate(() -> this.lab.run("""
				{"strategy": "holdfast-redis-lease", "stock": 200, "orders": 120, "concurrency": 12, "workMs": 1,
					"faults": [{"kind": "FREEZE", "millis": 3000}]}"""))
			.limit(5)
			.filter((each) -> Objects.requireNonNull(each.facts()).saved() > 0)
			.findFirst()
			.orElseThrow();
		assertThat(run.verdict()).extracting(Verdict::code).isEqualTo(Code.RIGHT);
		Trial.Facts facts = Objects.requireNonNull(run.facts());
		OrderView refused = this.lab.orders(run.id())
			.stream()
			.filter((order) -> order.overtakenBy() != null && order.overtakenBy() > 0)
			.findFirst()
			.orElseThrow();
		long committed = this.jdbc.sql("SELECT COUNT(*) FROM lab_order WHERE sku = ? AND wrote_changes > ?")
			.params("run-" + run.id() + ":holdfast-redis-lease", refused.readChanges())
			.query(Long.class)
			.single();
		assertThat(refused.overtakenBy()).isPositive().isLessThanOrEqualTo(committed);
		assertThat(((Number) run.verdict().arguments().get("saved")).longValue()).isEqualTo(facts.saved());
		assertThat(((Number) run.verdict().arguments().get("refused")).intValue()).isPositive();
		if (Rungs.RECORD != null) {
			Rungs.record(this.lab, run, Path.of("src/test/resources/lab/refused.json"));
		}
	}

	@Test
	void runThatWasRightByLuckSaysSo() {
		Run.View wrong = this.lab.run("""
				{"strategy": "memory-overwrite", "stock": 5, "orders": 10, "concurrency": 1}""");
		assertThat(wrong.verdict().code()).isEqualTo(Code.RIGHT);
		assertThat(wrong.verdict().arguments()).contains(entry("lucky", true), entry("breaks", "ORDERS"),
				entry("sold", 5));
		Run.View right = this.lab.run("""
				{"strategy": "for-update", "stock": 5, "orders": 10, "concurrency": 1}""");
		assertThat(right.verdict().arguments()).contains(entry("lucky", false), entry("sold", 5))
			.doesNotContainKey("breaks");
	}

	/** However many come at once. */
	@ParameterizedTest
	@CsvSource({ "for-update, 2, 20, 40, 10, 1000", "for-update, 4, 50, 80, 20, 1000",
			"holdfast-jdbc, 4, 50, 80, 20, 1000", "holdfast-jdbc, 2, 100, 100, 10, 1000",
			"holdfast-jdbc, 2, 100, 100, 20, 1000", "holdfast-jdbc, 2, 100, 100, 50, 1000",
			"holdfast-jdbc, 2, 100, 100, 100, 1000", "holdfast-jdbc, 2, 50, 60, 60, 60" })
	void nodesSellWhatThereIs(String strategy, int nodes, int stock, int orders, int concurrency, int rate) {
		Run.View run = this.lab.run("""
				{"strategy": "%s", "nodes": %d, "stock": %d, "orders": %d, "concurrency": %d, "ratePerSecond": %d}"""
			.formatted(strategy, nodes, stock, orders, concurrency, rate));
		assertThat(run.verdict()).extracting(Verdict::code).isEqualTo(Code.RIGHT);
		assertThat(run.facts())
			.extracting(Trial.Facts::sold, Trial.Facts::stockAfter, Trial.Facts::refused, Trial.Facts::busy,
					Trial.Facts::failed)
			.containsExactly((long) stock, 0L, orders - stock, 0, 0);
		assertThat(run.nodes()).hasSize(nodes).extracting(LabNode.View::state).containsOnly(LabNode.State.UP);
		List<OrderView> views = this.lab.orders(run.id());
		assertThat(views).hasSize(orders)
			.extracting(OrderView::node)
			.contains(IntStream.rangeClosed(1, nodes).boxed().toArray(Integer[]::new));
		assertThat(views).filteredOn((order) -> order.outcome() == OrderView.Outcome.SOLD)
			.allSatisfy((order) -> assertThat(new Long[] { order.start(), order.begin(), order.readAt(),
					order.writeAt(), order.commit(), order.end() })
				.isSorted());
		assertThat(this.lab.lostUpdate(run.id()).getStatusCode().value()).isEqualTo(204);
	}

	@Test
	void faultsOfTheRequestHappenToItsOrders() {
		Run.View run = this.lab
			.run("""
					{"strategy": "redis-px-lua", "stock": 1000, "orders": 60, "concurrency": 4, "workMs": 30,
						"faults": [{"atMs": 300, "kind": "FREEZE", "node": 2, "millis": 100}, {"atMs": 60000, "kind": "KILL"}]}""");
		assertThat(run.faults()).singleElement().satisfies((fault) -> {
			assertThat(fault.strategy()).isEqualTo("redis-px-lua");
			assertThat(fault.kind()).isEqualTo(Fault.Kind.FREEZE);
			assertThat(fault.node()).isEqualTo(2);
			assertThat(fault.atMs()).isGreaterThanOrEqualTo(300);
		});
		assertThat(run.verdict().arguments()).containsEntry("lucky", true);
		assertThat(run.nodes()).extracting(LabNode.View::state).containsOnly(LabNode.State.UP);
	}

	@Test
	void redisIsBackForTheNextRun() {
		String request = """
				{"strategy": "redis-px-lua", "stock": 20, "orders": 20, "concurrency": 2, "workMs": 5%s}""";
		Run.View away = this.lab.run(request.formatted("""
				, "faults": [{"kind": "RESTART_REDIS", "millis": 60000}]"""));
		assertThat(away.faults()).extracting(Fault::kind).containsExactly(Fault.Kind.RESTART_REDIS);
		Run.View next = this.lab.run(request.formatted(""));
		assertThat(next.faults()).isEmpty();
		assertThat(next.facts()).extracting(Trial.Facts::sold, Trial.Facts::failed).containsExactly(20L, 0);
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 2 })
	void nodeThatWasKilledFromOutsideIsDeadUntilTheNextRun(int nodes) {
		String request = """
				{"strategy": "for-update", "stock": 100000, "orders": %d, "concurrency": 2, "workMs": 5, "nodes": %d}""";
		String id = this.lab.start(request.formatted(100_000, nodes));
		await().atMost(LabClient.RUN_TIME).until(() -> this.lab.find(id).state() == Run.State.RUNNING);
		ProcessHandle.of(this.lab.find(id).nodes().get(0).pid()).orElseThrow().destroyForcibly();
		if (nodes == 1) {
			assertThat(this.lab.await(id).verdict()).extracting(Verdict::code).isEqualTo(Code.FAILED);
		}
		else {
			await().untilAsserted(() -> assertThat(this.lab.find(id).nodes()).extracting(LabNode.View::state)
				.containsExactly(LabNode.State.DEAD, LabNode.State.UP));
			this.lab.delete("/runs/" + id);
			this.lab.await(id);
		}
		Run.View next = this.lab.run(request.formatted(20, nodes));
		assertThat(next.nodes()).extracting(LabNode.View::state).containsOnly(LabNode.State.UP);
		assertThat(next.facts()).extracting(Trial.Facts::sold).isEqualTo(20L);
	}

	@ParameterizedTest
	@CsvSource({ "KILL", "FREEZE" })
	void runsOneAtATimeUntilItIsCancelledAndLeavesNoProcessBehind(String kind) {
		String id = this.lab.start("""
				{"strategy": "for-update", "stock": 100000, "orders": 100000, "concurrency": 2, "nodes": 1, "workMs": 5,
					"faults": [{"kind": "%s", "millis": 60000}]}""".formatted(kind));
		LabNode.State expected = kind.equals("KILL") ? LabNode.State.DEAD : LabNode.State.FROZEN;
		await().atMost(LabClient.RUN_TIME)
			.until(() -> this.lab.find(id).nodes().stream().anyMatch((node) -> node.state() == expected));
		ResponseEntity<String> second = this.lab.post("/runs", "{\"strategy\": \"for-update\"}");
		assertThat(second.getStatusCode().value()).isEqualTo(409);
		assertThat(second.getBody()).contains("urn:problem:lab:run-in-progress");
		this.lab.delete("/runs/" + id);
		assertThat(this.lab.await(id).state()).isEqualTo(Run.State.CANCELLED);
		Run.View next = this.lab.run("""
				{"strategy": "for-update", "orders": 10, "nodes": 1}""");
		assertThat(next.facts()).extracting(Trial.Facts::sold).isEqualTo(10L);
		await().untilAsserted(() -> assertThat(nodeProcesses())
			.containsExactlyElementsOf(next.nodes().stream().map(LabNode.View::pid).toList()));
	}

	private static List<Long> nodeProcesses() {
		return ProcessHandle.current()
			.descendants()
			.filter((process) -> process.info().commandLine().orElse("").contains("=lab-node"))
			.map(ProcessHandle::pid)
			.toList();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					{"strategy": "for-update", "nodes": 0}                | nodes       | must be a whole number from 1 to 4
					{"strategy": "for-update", "nodes": 5}                | nodes       | must be a whole number from 1 to 4
					{"strategy": "for-update", "stock": -1}               | stock       | must be a whole number from 0 to 1000000
					{"strategy": "for-update", "orders": 1000000000}      | orders      | must be a whole number from 1 to 100000
					{"strategy": "for-update", "orders": 0}               | orders      | must be a whole number from 1 to 100000
					{"strategy": "for-update", "concurrency": 201}        | concurrency | must be a whole number from 1 to 200
					{"strategy": "for-update", "quantity": 0}             | quantity    | must be a whole number from 1 to 1000
					{"strategy": "for-update", "ratePerSecond": 0}        | ratePerSecond | must be a whole number from 1 to 1000
					{"strategy": "for-update", "workMs": -1}              | workMs      | must be a whole number from 0 to 5000
					{"strategy": "for-update", "orders": "many"}          | orders      | must be a whole number
					{"strategy": "for-update", "skus": 0}                 | skus        | must be a whole number from 1 to 100
					{"strategy": "for-update", "faults": [{}]}            | faults[0].kind | must be FREEZE, KILL, RESTART_REDIS or PROMOTE_REPLICA
					{"strategy": "for-update", "faults": [{"kind": "KILL", "node": 3}]}      | faults[0].node | must be a whole number from 1 to 2
					{"strategy": "for-update", "faults": [{"kind": "KILL", "atMs": -1}]}     | faults[0].atMs | must be a whole number from 0 to 60000
					{"strategy": "for-update", "faults": [{"kind": "KILL", "millis": 60001}]} | faults[0].millis | must be a whole number from 0 to 60000
					{"strategy": "for-update", "stock": 1.5}              | stock       | must be a whole number
					{"strategy": "for-update", "stock": 5.0}              | stock       | must be a whole number
					{"strategy": "for-update", "stock": "5"}              | stock       | must be a whole number
					{"strategy": "for-update", "faults": [{"kind": 0}]}   | faults[0].kind | must be one of FREEZE, KILL, RESTART_REDIS, PROMOTE_REPLICA
					{"strategy": "for-update", "stock": null}             | stock       | must not be null
					{"strategy": "for-update", "orders": 99999999999}     | orders      | is out of range
					{"strategy": "for-update", "faults": [null]}          | faults[0]   | must not be null
					{"strategy": "for-update", "faults": {"kind": "KILL"}} | faults     | must be a list
					{"strategy": "for-update", "faults": [{"kind": "NAP"}]} | faults[0].kind | must be one of FREEZE, KILL, RESTART_REDIS, PROMOTE_REPLICA
					{"strategy": "for-update", "faults": [{"kind": "KILL", "atMs": 0.5}]} | faults[0].atMs | must be a whole number
					{"strategy": "for-update", "stok": 5}                 | stok        | is not known; known are strategy, stock, orders, concurrency, nodes, quantity, ratePerSecond, workMs, skus, quantities, faults
					{"strategy": "none"}                                  | strategy    | must be one of the strategies, or 'all'
					{}                                                    | strategy    | must be one of the strategies, or 'all'
					""")
	void refusesWhatCannotBeRun(String json, String field, String message) {
		ResponseEntity<String> answer = this.lab.post("/runs", json);
		assertThat(answer.getStatusCode().value()).isEqualTo(400);
		assertThat(answer.getBody()).contains("urn:problem:lab:invalid-request",
				"{\"field\":\"" + field + "\",\"message\":\"" + message + "\"}");
	}

	@Test
	void refusesWhatIsNoRequest() {
		for (String json : new String[] { "orders", "{\"strategy\": ", "" }) {
			ResponseEntity<String> answer = this.lab.post("/runs", json);
			assertThat(answer.getStatusCode().value()).isEqualTo(400);
			assertThat(answer.getBody()).contains("The request cannot be read");
		}
	}

	@Test
	void refusalsOfAllKindsAreProblems() {
		assertThat(this.lab.get("/runs/4711")).contains("urn:problem:lab:unknown-run", "\"status\":404");
		assertThat(this.lab.get("/nothing")).contains("\"status\":404", "\"title\"");
		assertThat(this.lab.postFrom("http://shop.example", "/runs", "{}").getBody()).contains("\"status\":403",
				"Only pages of the lab");
	}

	@Test
	void rootLeadsToThePage() {
		assertThat(LabClient.location("http://localhost:" + this.port + "/")).endsWith("/lab/");
		assertThat(this.lab.get("/")).contains("Warehouse lab", "js/main.js");
	}

	@Test
	void pagesOfOtherOriginsChangeNothing() {
		String json = """
				{"strategy": "for-update", "orders": 1}""";
		assertThat(statusFrom("http://shop.example", "/runs", json)).isEqualTo(403);
		assertThat(statusFrom("null", "/runs", json)).isEqualTo(403);
		assertThat(statusFrom("http://localhost:" + this.port, "/runs", "{}")).isEqualTo(400);
	}

	private int statusFrom(String origin, String uri, String json) {
		return this.lab.postFrom(origin, uri, json).getStatusCode().value();
	}

	@Test
	void pagesOfOtherOriginsDoNotReachTheNodes() {
		Run.View run = this.lab.run("""
				{"strategy": "for-update", "orders": 1}""");
		String node = "http://127.0.0.1:" + run.nodes().get(0).port() + "/lab-node";
		assertThat(statusFrom("http://shop.example", node + "/kill?moment=WORK", "")).isEqualTo(403);
		assertThat(statusFrom("null", node + "/freeze?moment=WORK&millis=60000", "")).isEqualTo(403);
		assertThat(ProcessHandle.of(run.nodes().get(0).pid())).get().matches(ProcessHandle::isAlive);
	}

	@Test
	void showsTheCodeOfEachStrategy() {
		assertThat(this.lab.get("/strategies")).contains("public boolean forUpdate(Order order)",
				"public boolean deduct(Order order)", "// holdfast.backend=redis");
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
