package io.github.holdfast.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

import io.github.holdfast.lab.strategy.OrderView;
import io.github.holdfast.lab.strategy.StrategyType;

/** The rungs of the page, and recordings of their runs, which it plays without a lab. */
final class Rungs {

	/** Where the page is. */
	static final Path PAGE = Path.of("src", "main", "resources", "static", "lab");

	private static final Path RECORDED = PAGE.resolve("recorded");

	private static final Pattern RUNG = Pattern.compile("id: '([\\w-]+)', strategy: '([\\w-]+)', expect: '(\\w+)'");

	/** The names of what is recorded of each order; the strategy is that of the run. */
	static final List<String> COLUMNS = Stream.of(OrderView.class.getRecordComponents())
		.map((component) -> component.getName())
		.filter((name) -> !name.equals("strategy"))
		.toList();

	private static final JsonMapper JSON = new JsonMapper();

	/** The rung to be recorded, or "all". */
	static final @Nullable String RECORD = System.getProperty("lab.record");

	private Rungs() {
	}

	static List<Rung> all() throws IOException {
		return RUNG.matcher(Files.readString(PAGE.resolve("js/ladder.js")))
			.results()
			.map((rung) -> new Rung(rung.group(1), StrategyType.of(rung.group(2)).orElseThrow(), rung.group(3)))
			.toList();
	}

	/** Records what the lab says of a run. */
	static void record(LabClient lab, Run.View run, Path file) throws IOException {
		List<List<?>> rows = lab.orders(run.id())
			.stream()
			.map((order) -> JSON.convertValue(order, Map.class))
			.<List<?>>map((order) -> COLUMNS.stream().map(order::get).toList())
			.toList();
		write(file, new Recording(run, lab.lostUpdate(run.id()).getBody(), COLUMNS, rows));
	}

	static void write(Path file, Object recording) throws IOException {
		Files.createDirectories(file.getParent());
		Files.writeString(file, JSON.writeValueAsString(recording) + "\n");
	}

	/** What was recorded of a strategy, or of the lab. */
	static Path file(String name) {
		return RECORDED.resolve(name + ".json");
	}

	/** What the page calls "wrong", "stuck", "lucky" or "right". */
	static String kind(Run.View run) {
		Verdict verdict = Objects.requireNonNull(run.verdict());
		if (Boolean.TRUE.equals(verdict.arguments().get("lucky"))) {
			return "lucky";
		}
		return switch (verdict.code()) {
			case RIGHT -> "right";
			case BLOCKED, STARVED, LEFT_OVER -> "stuck";
			default -> "wrong";
		};
	}

	record Rung(String id, StrategyType strategy, String expected) {

		@Override
		public String toString() {
			return this.id;
		}

	}

	record Recording(Run.View run, Trial.@Nullable LostUpdate lost, List<String> columns, List<List<?>> orders) {
	}

}
