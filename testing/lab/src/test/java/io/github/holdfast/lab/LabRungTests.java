package io.github.holdfast.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.json.JsonMapper;

import io.github.holdfast.lab.Rungs.Rung;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Each rung of the page shows what it is about, and says what the database says. With
 * {@code -Dlab.record=all}, or the id of one, it runs ten times: {@code results.md} gets
 * the verdicts, and the page a recording.
 */
class LabRungTests extends RunningLab {

	/** As many as the page makes of a run that was lucky. */
	private static final int MOST_TRIES = 5;

	private static final int TIMES = 10;

	private static final Path RESULTS = Path.of("results.md");

	private static final Map<String, String> LINES = new HashMap<>();

	static List<Rung> rungs() throws IOException {
		return Rungs.all()
			.stream()
			.filter((rung) -> Rungs.RECORD == null || List.of(rung.id(), "all").contains(Rungs.RECORD))
			.toList();
	}

	@ParameterizedTest
	@MethodSource("rungs")
	void rungShowsWhatItIsAbout(Rung rung) throws IOException {
		List<Run.View> runs = new ArrayList<>();
		do {
			Run.View run = this.lab.run(new JsonMapper().writeValueAsString(Presets.of(rung.strategy())));
			figuresAreThoseOfTheDatabase(run);
			runs.add(run);
			if (Rungs.RECORD != null && Rungs.kind(run).equals(rung.expected())) {
				Rungs.record(this.lab, run, Rungs.file(rung.strategy().id()));
			}
		}
		while ((Rungs.RECORD != null) ? runs.size() < TIMES
				: !Rungs.kind(runs.get(runs.size() - 1)).equals(rung.expected()) && runs.size() < MOST_TRIES);
		LINES.put(rung.id(), "| `#%s` | `%s` | %s |".formatted(rung.id(), rung.strategy().id(), words(runs)));
		assertThat(runs).extracting(Rungs::kind)
			.contains(rung.expected())
			.allMatch((kind) -> kind.equals(rung.expected()) || kind.equals("lucky"));
	}

	private static String words(List<Run.View> runs) {
		Map<String, Long> words = runs.stream()
			.collect(Collectors.groupingBy(LabRungTests::word, TreeMap::new, Collectors.counting()));
		return words.toString().replaceAll("[{}]", "").replace('=', ' ');
	}

	private static String word(Run.View run) {
		String code = String.valueOf(run.verdict().code()).toLowerCase(Locale.ROOT).replace('_', ' ');
		return Rungs.kind(run).equals("lucky") ? "luck" : code;
	}

	@AfterAll
	static void writeResults() throws IOException {
		if (Rungs.RECORD != null) {
			String results = Files.readString(RESULTS);
			for (Map.Entry<String, String> line : LINES.entrySet()) {
				results = results.replaceFirst("(?m)^\\| `#" + line.getKey() + "` .*$", line.getValue());
			}
			Files.writeString(RESULTS, results);
		}
	}

}
