package io.github.holdfast;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The size of the library. A line of code is one that is neither empty nor a comment nor
 * names a package or an import; a class is a file with its nested classes.
 *
 * <pre class="code">
 * java autoconfigure/src/test/java/io/github/holdfast/Figures.java
 * java autoconfigure/src/test/java/io/github/holdfast/Figures.java &lt;another clone&gt;</pre>
 *
 * prints them. {@link ArchitectureTests} keeps the ceilings.
 */
final class Figures {

	/** What is no code, and what only looks like a comment. */
	private static final Pattern NO_CODE = Pattern
		.compile("(?s)(\"\"\".*?\"\"\"|\"(?:\\\\.|[^\"\\\\\n])*\"|'(?:\\\\.|[^'\\\\\n])*')|/\\*.*?\\*/|//[^\n]*");

	private static final Pattern PUBLIC_TYPE = Pattern
		.compile("(?m)^public (?:(?:abstract|final|sealed) )*(?:class|interface|enum|record|@interface) ");

	private static final Pattern PROPERTY = Pattern.compile("\"name\": \"holdfast\\.");

	private static final Pattern METHOD = Pattern.compile("(?m)^\t[^\t{}]*\\([^{}]*?\\);");

	private final Path root;

	private final List<String> library;

	private final List<Integer> sizes;

	private Figures(Path root) {
		this.root = root;
		this.library = sources("autoconfigure/src/main/java");
		this.sizes = this.library.stream().map(Figures::lines).sorted().toList();
	}

	static Figures of(Path root) {
		return new Figures(root);
	}

	/**
	 * The lines of code of the library.
	 */
	int lines() {
		return this.sizes.stream().mapToInt(Integer::intValue).sum();
	}

	/**
	 * The lines of the largest class.
	 */
	int largestClass() {
		return this.sizes.get(this.sizes.size() - 1);
	}

	/**
	 * The lines that one class in ten has more of.
	 */
	int ninthDecile() {
		return this.sizes.get(this.sizes.size() * 9 / 10);
	}

	/**
	 * The share of the top-level types that are public, in percent.
	 */
	int publicShare() {
		long open = this.library.stream().filter((source) -> PUBLIC_TYPE.matcher(source).find()).count();
		return Math.round(100f * open / this.library.size());
	}

	/**
	 * The lines of the library's tests for one of the library.
	 */
	double testShare() {
		int tests = Stream.of("autoconfigure/src/test/java", "testing/integration/src/test/java")
			.flatMap((folder) -> sources(folder).stream())
			.mapToInt(Figures::lines)
			.sum();
		return (double) tests / lines();
	}

	/**
	 * The properties that an application can set, as the last build has described them.
	 */
	int properties() {
		Path metadata = this.root.resolve("autoconfigure/target/classes/META-INF/spring-configuration-metadata.json");
		if (!Files.exists(metadata)) {
			return 0;
		}
		String text = read(metadata);
		return count(PROPERTY, text.substring(text.indexOf("\"properties\": ["), text.indexOf("\"hints\": [")));
	}

	/**
	 * The methods of the seam between transactions and calls.
	 */
	int methodsOfTheSeam() {
		return this.library.stream()
			.filter((source) -> source.contains("\npublic interface HeldLock "))
			.mapToInt((source) -> count(METHOD, withoutComments(source)))
			.sum();
	}

	private long folders() {
		try (Stream<Path> children = Files.list(this.root)) {
			return children.filter(Files::isDirectory)
				.map((folder) -> folder.getFileName().toString())
				.filter((name) -> !name.startsWith(".") && !name.equals("target"))
				.count();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private long words() {
		return files("docs", ".md").stream()
			.flatMap((page) -> Pattern.compile("\\s+").splitAsStream(read(page).strip()))
			.count();
	}

	private List<String> sources(String folder) {
		return files(folder, ".java").stream()
			.filter((file) -> !file.endsWith("package-info.java"))
			.map(Figures::read)
			.toList();
	}

	private List<Path> files(String folder, String ending) {
		Path start = this.root.resolve(folder);
		if (!Files.exists(start)) {
			return Collections.emptyList();
		}
		try (Stream<Path> files = Files.walk(start)) {
			return files.filter((file) -> file.toString().endsWith(ending)).toList();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static String read(Path file) {
		try {
			return Files.readString(file);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static int count(Pattern pattern, String text) {
		return (int) pattern.matcher(text).results().count();
	}

	private static int lines(String source) {
		return (int) withoutComments(source).lines()
			.filter((line) -> !line.isBlank() && !line.startsWith("import ") && !line.startsWith("package "))
			.count();
	}

	private static String withoutComments(String source) {
		return NO_CODE.matcher(source).replaceAll(Figures::literal);
	}

	private static String literal(MatchResult found) {
		return (found.group(1) != null) ? Matcher.quoteReplacement(found.group(1)) : "";
	}

	@Override
	public String toString() {
		List<List<String>> rows = new ArrayList<>();
		rows.add(List.of("lines of code", text(lines())));
		rows.add(List.of("classes: 90 % have at most", text(ninthDecile())));
		rows.add(List.of("largest class", text(largestClass())));
		rows.add(List.of("public top-level types, %", text(publicShare())));
		rows.add(List.of("properties `holdfast.*`", text(properties())));
		rows.add(List.of("methods of `HeldLock`", text(methodsOfTheSeam())));
		rows.add(List.of("lines of tests for one of the library", String.format(Locale.ROOT, "%.2f", testShare())));
		rows.add(List.of("top-level folders", text(folders())));
		rows.add(List.of("words in docs", text(words())));
		return rows.stream().map((row) -> "| " + String.join(" | ", row) + " |").collect(Collectors.joining("\n"));
	}

	private static String text(long number) {
		return String.format(Locale.ROOT, "%,d", number).replace(',', ' ');
	}

	public static void main(String[] args) {
		System.out.println(of(Path.of((args.length > 0) ? args[0] : "").toAbsolutePath()));
	}

}
