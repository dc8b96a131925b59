package io.github.holdfast.cost;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.springframework.util.Assert;

/**
 * A table of {@code testing/benchmarks/results.md}: the first one below the heading with
 * the title of a kind of calls. Each row has the backend and the level in its first two
 * cells.
 */
final class CostTable {

	private static final Path PAGE = Path.of("..", "benchmarks", "results.md");

	private static final int HEAD_LINES = 2;

	private final List<String> lines;

	private final int begin;

	private final int end;

	private CostTable(String title, List<String> lines) {
		this.lines = lines;
		int heading = lines.indexOf("### " + title);
		Assert.state(heading >= 0, () -> PAGE + " has no heading '" + title + "'");
		int line = heading;
		while (!lines.get(line).startsWith("|")) {
			line++;
		}
		this.begin = line + HEAD_LINES;
		while (line < lines.size() && lines.get(line).startsWith("|")) {
			line++;
		}
		this.end = line;
	}

	static CostTable of(CallKind kind) throws IOException {
		return new CostTable(kind.title(), Files.readAllLines(PAGE));
	}

	/**
	 * The cells of each row.
	 */
	List<List<String>> rows() {
		return this.lines.subList(this.begin, this.end).stream().map(CostTable::cells).toList();
	}

	private static List<String> cells(String line) {
		return Arrays.stream(line.substring(1, line.length() - 1).split("\\|")).map(String::strip).toList();
	}

	/**
	 * Replaces the rows on the page.
	 */
	void write(List<List<String>> rows) throws IOException {
		List<String> page = new ArrayList<>(this.lines.subList(0, this.begin));
		rows.forEach((cells) -> page.add("| " + String.join(" | ", cells) + " |"));
		page.addAll(this.lines.subList(this.end, this.lines.size()));
		Files.write(PAGE, page);
	}

}
