package io.github.holdfast.chaos;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The page with the figures of a campaign.
 */
final class Report {

	private static final Set<Violation.Kind> ORDER = EnumSet.of(Violation.Kind.TOKEN_OUT_OF_ORDER,
			Violation.Kind.COMMIT_AFTER_SUCCESSOR);

	private static final Set<Violation.Kind> COLUMNS = EnumSet.of(Violation.Kind.LOST_UPDATE,
			Violation.Kind.TOKEN_OUT_OF_ORDER, Violation.Kind.COMMIT_AFTER_SUCCESSOR, Violation.Kind.FALSE_LOSS);

	private static final String TABLE_HEAD = """
			| %s | runs | faults | commits acknowledged | lost updates | tokens out of order | rejected commits | losses after the commit | \
			unknown outcomes | false losses | other violations | longest until free |
			| %s | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |
			""";

	/** Written by hand, of the lines of longer runs without controls. */
	private static final Path SEEDS = Path.of("results", "seeds.part");

	/** Written by the other programs of the machine. */
	private static final Path HOLES = Path.of("results", "holes.part");

	private static final List<Path> SOAKS = List.of(Path.of("results", "soak-full.part"),
			Path.of("results", "soak-rest.part"));

	private static final String WITHOUT_FAULTS = """

			## Without faults, for long

			All of these at the same time, each with three JVMs of three threads: at full load, and with pauses, in which
			methods under a lock take up to 25 ms and now and then 300 ms (`-Dholdfast.chaos.rest=true`).

			```shell
			./mvnw verify -P chaos -pl testing/chaos -am -Dtest=SoakTests -Dsurefire.failIfNoSpecifiedTests=false \\
				-Dholdfast.chaos.minutes=60 -Dholdfast.chaos.rest=true
			```

			The figures are the middle ones of the second quarter and of the last one: the heap of the three JVMs after a
			collection in MB, their threads, their connections to the database, and the number of rows, keys or nodes in
			the store. `snapshot` is REPEATABLE READ with `innodb_snapshot_isolation=ON`. Found is whatever the machine
			looks for, a lock that was lost among it, and what has grown by a fifth. Refused is what a serializable
			database has refused by itself, of which the caller was told without any lock being lost; it is not counted
			as found.
			""";

	private final long seed;

	private final long started = System.nanoTime();

	private final Map<String, Figures> byWeather = new TreeMap<>();

	private final Map<String, Figures> byDatabase = new TreeMap<>();

	private final Map<Fault.Kind, Map<Backend, Integer>> faults = new EnumMap<>(Fault.Kind.class);

	private final int rounds;

	private final int lanes;

	private final int longer;

	private final String commit = lastChange();

	Report(long seed, int rounds, int lanes, int longer) {
		this.lanes = lanes;
		this.longer = longer;
		this.seed = seed;
		this.rounds = rounds;
	}

	void add(Run run) {
		History history = run.history();
		Figures figures = run.figures();
		Target target = history.plan().target();
		this.byWeather.merge("%s | %s | %s".formatted(target.backend(), history.plan().weather(), target.level()),
				figures, Figures::plus);
		if (target.level() == Level.FENCE) {
			this.byDatabase.merge(
					"%s | %s | %s".formatted(target.backend(), target.database().platform(), target.isolation()),
					figures, Figures::plus);
			history.faults()
				.forEach((fault) -> this.faults.computeIfAbsent(fault.kind(), (kind) -> new EnumMap<>(Backend.class))
					.merge(target.backend(), 1, Integer::sum));
		}
	}

	@Override
	public String toString() {
		StringBuilder page = new StringBuilder(
				"""
						# Results of the fault machine

						What happened to the data of users while nodes, networks and servers failed. This page is written by the
						[fault machine](README.md), with

						```shell
						%s
						```

						%s

						At `fence`: %s.

						A run is three JVMs with three threads each, which change accounts in a database under locks, by random
						programs and under random faults: `processes` are paused and killed, the `network` to the store and to the
						database fails, `servers` lose locks and sessions, or all of it happens (`storm`), or nothing (`calm`).
						Leases last for 700 ms, with ZooKeeper and etcd for 1.5 s, and faults for up to twice as long; when it is calm
						leases last for 10 s. A fault counts if it has met something, as far as that can be told.

						Each commit has left a row with the version that it has written and the token of its lock. Two rows with one
						version are a lost update; a token that is smaller than that of an earlier version, or that commits after a
						holder with a larger one has read, is out of order. A rejected commit is one of a holder whose lock was lost;
						a call can also be told of a loss after its commit. A false loss is a call that loses its lock or fails
						without any fault; without locks that is a deadlock that the database has ended.

						Nothing else than `fence` is promised to be free of lost updates: the other levels are controls, which show
						that the machine finds what there is. At `unchecked`, the fence compares nothing; at `none` there are no
						locks.

						## By faults and level

						"""
					.formatted(command(), circumstances(), promised()));
		addTable(page, "backend | faults | level", this.byWeather);
		page.append("\n## `fence`, by database and isolation\n\n");
		addTable(page, "backend | database | isolation", this.byDatabase);
		page.append("\n## Faults injected at `fence`\n\n| fault |");
		Arrays.stream(Backend.values()).forEach((backend) -> page.append(" ").append(backend).append(" |"));
		page.append("\n| --- |").append(" --: |".repeat(Backend.values().length)).append("\n");
		this.faults.forEach((kind, counts) -> {
			page.append("| ").append(Names.print(kind)).append(" |");
			Arrays.stream(Backend.values())
				.forEach((backend) -> page.append(" ").append(counts.getOrDefault(backend, 0)).append(" |"));
			page.append("\n");
		});
		page.append("\n").append(read(SEEDS)).append("\n").append(read(HOLES)).append(WITHOUT_FAULTS);
		SOAKS.forEach((section) -> page.append("\n").append(read(section)));
		return page.toString();
	}

	/**
	 * A run at {@code fence} only, as a row of a table.
	 */
	String line() {
		Figures all = this.byDatabase.values().stream().reduce(Figures.NONE, Figures::plus);
		Figures transactions = this.byDatabase.entrySet()
			.stream()
			.filter((row) -> row.getKey().startsWith(Backend.JDBC + " "))
			.map(Map.Entry::getValue)
			.reduce(Figures.NONE, Figures::plus);
		long lost = all.count(Violation.Kind.LOST_UPDATE);
		long order = ORDER.stream().mapToLong(all::count).sum();
		return "| %d | %d | %d | %d | %s | %d | %d | %d | %d | %d | %d | %d | %d |\n".formatted(this.seed, this.rounds,
				this.longer, this.lanes, this.commit, minutes(), all.faults(), all.commits(), transactions.commits(),
				all.rejected(), lost, order, all.allViolations() - lost - order);
	}

	private static String read(Path section) {
		try {
			return Files.exists(section) ? Files.readString(section) : "";
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private String promised() {
		Figures all = this.byDatabase.values().stream().reduce(Figures.NONE, Figures::plus);
		return "%d faults, %d acknowledged commits, %d lost updates, %d tokens out of order, %d other violations"
			.formatted(all.faults(), all.commits(), all.count(Violation.Kind.LOST_UPDATE),
					ORDER.stream().mapToLong(all::count).sum(), all.allViolations()
							- all.count(Violation.Kind.LOST_UPDATE) - ORDER.stream().mapToLong(all::count).sum());
	}

	private String command() {
		return """
				./mvnw verify -P chaos -pl testing/chaos -am -Dtest=ReliabilityTests -Dsurefire.failIfNoSpecifiedTests=false \\
					-Dholdfast.chaos.seed=%d -Dholdfast.chaos.rounds=%d -Dholdfast.chaos.lanes=%d"""
			.formatted(this.seed, this.rounds, this.lanes);
	}

	private long minutes() {
		return Duration.ofNanos(System.nanoTime() - this.started).toMinutes();
	}

	private String circumstances() {
		Map<String, String> facts = new LinkedHashMap<>();
		facts.put("Seed", String.valueOf(this.seed));
		facts.put("duration", minutes() + " minutes");
		facts.put("last change of the library", "commit " + this.commit);
		facts.put("machine", "%d processors, %s %s, JDK %s".formatted(Runtime.getRuntime().availableProcessors(),
				System.getProperty("os.name"), System.getProperty("os.arch"), System.getProperty("java.version")));
		return facts.entrySet()
			.stream()
			.map((fact) -> fact.getKey() + ": " + fact.getValue())
			.reduce((one, other) -> one + "; " + other)
			.orElseThrow() + ".";
	}

	/**
	 * The last commit that has changed the library.
	 */
	static String lastChange() {
		return git("log", "-1", "--format=%h", "--", "../../autoconfigure/src/main");
	}

	private static String git(String... args) {
		try {
			String[] command = new String[args.length + 1];
			command[0] = "git";
			System.arraycopy(args, 0, command, 1, args.length);
			Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
			String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
			return output.isEmpty() ? "unknown" : output;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static void addTable(StringBuilder page, String head, Map<String, Figures> rows) {
		page.append(TABLE_HEAD.formatted(head, "--- | --- | ---"));
		rows.forEach((row, figures) -> page.append("| %s | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d ms |\n"
			.formatted(row, figures.runs(), figures.faults(), figures.commits(),
					figures.count(Violation.Kind.LOST_UPDATE), ORDER.stream().mapToLong(figures::count).sum(),
					figures.rejected(), figures.overlaps(), figures.unknown(), figures.count(Violation.Kind.FALSE_LOSS),
					EnumSet.complementOf(EnumSet.copyOf(COLUMNS)).stream().mapToLong(figures::count).sum(),
					figures.freeAfter())));
	}

}
