package io.github.holdfast.sample.wms;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.jayway.jsonpath.JsonPath;
import io.github.holdfast.LockListener.Operation;
import io.github.holdfast.LockListener.Outcome;
import io.github.holdfast.LockListener.Reason;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.yaml.snakeyaml.Yaml;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.resttestclient.autoconfigure.AutoConfigureRestTestClient;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.test.web.servlet.client.RestTestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What an operator sees of the running service, and that the dashboard and the alerting
 * rules look at nothing else.
 */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { "spring.datasource.url=jdbc:h2:mem:operate;DB_CLOSE_DELAY=-1", "wms.stock-report.cron=-" })
@ActiveProfiles("operate")
@AutoConfigureRestTestClient
class OperateTests {

	private static final Path DASHBOARD = Path.of("..", "docs", "operate", "grafana-dashboard.json");

	private static final Path RULES = Path.of("..", "docs", "operate", "prometheus-rules.yml");

	private static final Path TESTS_OF_RULES = Path.of("src", "test", "resources", "prometheus-rules-tests.yml");

	private static final String MANUAL = "https://github.com/holdfast/holdfast/blob/main/docs/operate.md#";

	private static final Path PAGE = Path.of("..", "docs", "operate.md");

	private static final Pattern METER = Pattern.compile("holdfast_[a-z_]+");

	private static final Pattern SAMPLE = Pattern.compile("(holdfast_[a-z_]+)\\{(.*)} .*");

	private static final Pattern SERIES = Pattern.compile("- series: (holdfast_[a-z_]+)\\{(.*)}");

	/** In the braces of a selector, or behind by. */
	private static final Pattern LABEL = Pattern.compile("([a-z_]+) *(?:=~|!=|!~|=)\"|by \\(([a-z_, ]+)\\)");

	private static final Pattern OUTCOME = Pattern.compile("outcome=\"([^\"]*)\"");

	/** What Prometheus adds for each target that it scrapes. */
	private static final Set<String> OF_PROMETHEUS = Set.of("instance", "job");

	@Autowired
	private RestTestClient client;

	@Autowired
	private LockTemplate locks;

	@BeforeEach
	void lockSomething() {
		Warehouse warehouse = new Warehouse(this.client);
		warehouse.receive("A", 10);
		warehouse.assertConfirms(warehouse.create(Warehouse.line("A", 1)), false);
	}

	@Test
	void serviceIsHealthyWithoutTheStoresThatItDoesNotUse() {
		this.client.get().uri("/actuator/health").exchange().expectBody().jsonPath("$.status").isEqualTo("UP");
	}

	/**
	 * Who protects nothing shows neither keys nor the store, and lets nobody take locks
	 * away.
	 */
	@Test
	void lockThatIsHeldIsSeenAndCannotBeTakenAway() {
		this.locks.withName("count").run("customer:7", () -> {
			this.client.get()
				.uri("/actuator/locks/customer:7")
				.exchange()
				.expectStatus()
				.isOk()
				.expectBody()
				.jsonPath("$.key")
				.value((key) -> assertThat((String) key).startsWith("sha256:"))
				.jsonPath("$.held[0].name")
				.isEqualTo("count")
				.jsonPath("$.holders.jdbc.owner")
				.exists();
			this.client.get()
				.uri("/actuator/metrics/holdfast.locks.active?tag=lock.name:count")
				.exchange()
				.expectBody()
				.jsonPath("$.measurements[0].value")
				.isEqualTo(1.0);
			this.client.delete()
				.uri("/actuator/locks/customer:7?owner=nobody&epoch=1")
				.exchange()
				.expectStatus()
				.isEqualTo(405);
		});
		this.client.get().uri("/actuator/health").exchange().expectBody().jsonPath("$.components").doesNotExist();
	}

	@Test
	void locksOfTheServiceCanBeScraped() {
		assertThat(scrape().lines().filter((line) -> line.startsWith("holdfast_locks_acquire_seconds_count")))
			.anySatisfy((line) -> assertThat(line).contains("backend=\"jdbc\"", "lock_name=\"stock\"",
					"mode=\"EXCLUSIVE\"", "outcome=\"ACQUIRED\"", "exception=\"none\""));
	}

	@Test
	void callThatFindsItsLockBusyIsSeen() {
		LockTemplate locks = this.locks.withName("report").withWaitTime(Duration.ZERO);
		locks.run("busy", () -> {
			CompletableFuture<Void> other = CompletableFuture.runAsync(() -> locks.run("busy", () -> {
			}));
			assertThatExceptionOfType(CompletionException.class).isThrownBy(other::join)
				.withCauseInstanceOf(LockNotAcquiredException.class);
			assertThat(value("holdfast_locks_active", "report")).isOne();
		});
		assertThat(scrape().lines().filter((line) -> line.startsWith("holdfast_locks_acquire_seconds_count")))
			.anySatisfy((line) -> assertThat(line).contains("lock_name=\"report\"", "outcome=\"BUSY\"",
					"exception=\"LockNotAcquiredException\""));
		assertThat(value("holdfast_locks_active", "report")).isZero();
		assertThat(value("holdfast_locks_pending", "report")).isZero();
	}

	static Stream<String> expressions() throws IOException {
		return Stream.concat(rules().stream().map((rule) -> (String) rule.get("expr")),
				JsonPath.<List<String>>read(Files.readString(DASHBOARD), "$.panels[*].targets[*].expr").stream());
	}

	@ParameterizedTest
	@MethodSource("expressions")
	void expressionLooksAtWhatIsPublished(String expression) {
		Map<String, Set<String>> published = published();
		List<String> meters = METER.matcher(expression).results().map(MatchResult::group).toList();
		assertThat(meters).isNotEmpty().isSubsetOf(published.keySet());
		Set<String> labels = new TreeSet<>(OF_PROMETHEUS);
		meters.forEach((meter) -> labels.addAll(published.get(meter)));
		assertThat(labels(expression)).isNotEmpty().isSubsetOf(labels);
		assertThat(OUTCOME.matcher(expression).results().map((outcome) -> outcome.group(1))).isSubsetOf(outcomes());
		assertThat(expression.chars().filter((c) -> c == '(').count())
			.isEqualTo(expression.chars().filter((c) -> c == ')').count());
	}

	@Test
	void dashboardShowsAllMeters() throws IOException {
		Set<String> shown = METER.matcher(Files.readString(DASHBOARD))
			.results()
			.map(MatchResult::group)
			.collect(Collectors.toSet());
		assertThat(shown).containsAll(published().keySet());
	}

	@Test
	@EnabledIf("isPromtoolInstalled")
	void rulesAlertWhenTheyShould() throws Exception {
		Process promtool = new ProcessBuilder("promtool", "test", "rules", TESTS_OF_RULES.toString())
			.redirectErrorStream(true)
			.start();
		String output = new String(promtool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		assertThat(promtool.waitFor()).as(output).isZero();
	}

	static boolean isPromtoolInstalled() {
		return Stream.of(System.getenv("PATH").split(":"))
			.anyMatch((directory) -> Files.isExecutable(Path.of(directory, "promtool")));
	}

	/**
	 * So that those tests are worth something.
	 */
	@Test
	void rulesAreTestedWithWhatIsPublished() throws IOException {
		Map<String, Set<String>> published = published();
		String tests = Files.readString(TESTS_OF_RULES);
		List<MatchResult> series = SERIES.matcher(tests).results().toList();
		assertThat(series).isNotEmpty().allSatisfy((one) -> {
			Set<String> labels = new TreeSet<>(published.getOrDefault(one.group(1), Set.of()));
			labels.add("instance");
			assertThat(namesIn(one.group(2))).as(one.group()).isEqualTo(labels);
		});
		assertThat(OUTCOME.matcher(tests).results().map((outcome) -> outcome.group(1))).isSubsetOf(outcomes());
		for (Map<String, Object> rule : rules()) {
			assertThat(tests).contains((String) rule.get("alert"));
		}
	}

	@Test
	void rulesLeadToWhatToDo() throws IOException {
		String page = Files.readString(PAGE);
		for (Map<String, Object> rule : rules()) {
			String link = (String) ((Map<?, ?>) rule.get("annotations")).get("runbook_url");
			assertThat(link).startsWith(MANUAL);
			String heading = link.substring(MANUAL.length()).replace('-', ' ');
			assertThat(page.lines().map(String::toLowerCase)).contains("#### " + heading);
		}
	}

	/**
	 * Several applications may have locks of the same name.
	 */
	@ParameterizedTest
	@MethodSource("expressions")
	void expressionTellsApplicationsApart(String expression) {
		assertThat(labels(expression)).contains("application");
	}

	private static List<Map<String, Object>> rules() throws IOException {
		Map<String, List<Map<String, List<Map<String, Object>>>>> file = new Yaml().load(Files.readString(RULES));
		return file.get("groups").get(0).get("rules");
	}

	private static Set<String> labels(String expression) {
		return LABEL.matcher(expression)
			.results()
			.flatMap((label) -> (label.group(1) != null) ? Stream.of(label.group(1))
					: Arrays.stream(label.group(2).split(" *, *")))
			.collect(Collectors.toSet());
	}

	private static Set<String> outcomes() {
		return Stream
			.of(Stream.of("ACQUIRED"), Arrays.stream(Reason.values()).map(Enum::name),
					Arrays.stream(Outcome.values()).map(Enum::name), Arrays.stream(Operation.values()).map(Enum::name))
			.flatMap((names) -> names)
			.collect(Collectors.toSet());
	}

	/**
	 * The meters of locks, each with the names of its labels.
	 */
	private Map<String, Set<String>> published() {
		Map<String, Set<String>> meters = new TreeMap<>();
		SAMPLE.matcher(scrape())
			.results()
			.forEach((sample) -> meters.computeIfAbsent(sample.group(1), (name) -> new TreeSet<>())
				.addAll(namesIn(sample.group(2))));
		return meters;
	}

	private static Set<String> namesIn(String labels) {
		return Pattern.compile("([a-z_]+)=\"")
			.matcher(labels)
			.results()
			.map((label) -> label.group(1))
			.collect(Collectors.toCollection(TreeSet::new));
	}

	private double value(String meter, String lock) {
		return scrape().lines()
			.filter((line) -> line.startsWith(meter + "{") && line.contains("lock_name=\"" + lock + "\""))
			.mapToDouble((line) -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
			.sum();
	}

	private String scrape() {
		String text = this.client.get()
			.uri("/actuator/prometheus")
			.exchange()
			.expectStatus()
			.isOk()
			.expectBody(String.class)
			.returnResult()
			.getResponseBody();
		assertThat(text).isNotNull();
		return text;
	}

}
