package io.github.holdfast.spec;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** A row of a table of {@code models.md}; a sentence may be "nothing". */
record Row(String sentence, String model, String calls, String faults, String result, long steps, long states) {

	static final Path FOLDER = Path.of("").toAbsolutePath();

	static final Pattern INVARIANTS = Pattern.compile("(INVARIANT|PROPERT)\\w* (.*)");

	private static final Pattern COUNTED = Pattern.compile("(\\d+) (purge|eviction)s?");

	private static final Pattern ABOVE = Pattern.compile("(\\w+)( at RR)?");

	static Stream<Row> under(String heading) throws IOException {
		String tables = Files.readString(FOLDER.resolve("models.md"));
		String section = tables.substring(tables.indexOf(heading) + heading.length()).split("\n## ")[0];
		return section.lines().filter((line) -> line.contains("| `")).map(Row::of);
	}

	private static Row of(String line) {
		String[] cells = line.replace("`", "").split("\\s*\\|\\s*");
		boolean twin = cells.length > 7;
		int model = twin ? 3 : 1;
		return new Row(twin ? cells[1] : "nothing", cells[model], cells[model + 1], cells[model + 2], cells[model + 3],
				twin ? Long.parseLong(cells[model + 4]) : 0, Long.parseLong(cells[cells.length - 1]));
	}

	boolean isRight() {
		return this.result.equals("no error");
	}

	String configuration() throws IOException {
		List<String> lines = new ArrayList<>();
		for (String line : Files.readAllLines(FOLDER.resolve(this.model + ".cfg"))) {
			Matcher invariants = INVARIANTS.matcher(line);
			if (this.isRight() || !invariants.matches()) {
				lines.add(line);
			}
			else if (List.of(invariants.group(2).split(" ")).contains(this.result)) {
				lines.add((invariants.group(1).equals("PROPERT") ? "PROPERTY " : "INVARIANT ") + this.result);
			}
		}
		constants(lines).forEach((name, value) -> {
			Pattern constant = Pattern.compile("  " + name + " (=|<-) (.*)");
			assertThat(lines).as(name).filteredOn((line) -> constant.matcher(line).matches()).hasSize(1);
			lines.replaceAll((line) -> constant.matcher(line).replaceFirst("  " + name + " $1 " + value));
		});
		return String.join("\n", lines);
	}

	private Map<String, String> constants(List<String> lines) {
		Map<String, String> constants = new TreeMap<>();
		constants.put("Without", '"' + this.sentence + '"');
		if (!this.calls.isEmpty()) {
			constants.putAll(programs());
		}
		List<String> happening = new ArrayList<>();
		for (String fault : this.faults.isEmpty() ? new String[0] : this.faults.split(", ")) {
			Matcher counted = COUNTED.matcher(fault);
			if (fault.equals("all")) {
				happening.add(lines.stream()
					.filter((line) -> line.startsWith("  Faults"))
					.findFirst()
					.orElseThrow()
					.replaceAll(".*\\{|}", ""));
			}
			else if (counted.matches()) {
				constants.put(counted.group(2).equals("purge") ? "Purges" : "Evictions", counted.group(1));
			}
			else if (fault.contains(" = ")) {
				constants.put(fault.split(" = ")[0], fault.split(" = ")[1]);
			}
			else if (!fault.equals("none")) {
				happening.add('"' + fault + '"');
			}
		}
		if (!this.calls.isEmpty()) {
			constants.put("Faults", "{" + String.join(", ", happening) + "}");
		}
		return constants;
	}

	private Map<String, String> programs() {
		Map<String, String> constants = new TreeMap<>();
		String[] callsAndServer = this.calls.split(" on ");
		constants.put("Server", '"' + ((callsAndServer.length > 1) ? callsAndServer[1] : "PostgreSQL") + '"');
		List<String> above = new ArrayList<>();
		List<String> programs = List.of(callsAndServer[0].split(", "));
		for (int call = 1; call <= 4; call++) {
			Matcher program = ABOVE.matcher((call <= programs.size()) ? programs.get(call - 1) : "none");
			assertThat(program.matches()).as(this.calls).isTrue();
			constants.put("Call" + call, '"' + program.group(1) + '"');
			if (program.group(2) != null) {
				above.add("" + call);
			}
		}
		constants.put("Above", "{" + String.join(", ", above) + "}");
		return constants;
	}

	@Override
	public String toString() {
		return this.model + " without " + this.sentence + ": " + this.calls + "; " + this.faults + ": " + this.result;
	}

}
