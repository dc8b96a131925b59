package io.github.holdfast.lab.strategy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.springframework.core.io.ClassPathResource;

/**
 * The code of a strategy: its method, and what that uses.
 */
final class SourceCode {

	/** What is declared, after Javadoc and annotations: a method or a constant. */
	private static final Pattern NAME = Pattern.compile("^\t\\w[^(=]*?(\\w+)(?: =.*|\\(.*)", Pattern.MULTILINE);

	private SourceCode() {
	}

	static String of(Class<?> type, String method) {
		String all = read(type);
		Set<String> found = new LinkedHashSet<>();
		if (method.equals("sell")) {
			found.add(all.replaceFirst("(?s)^.*?\n(?=/\\*\\*)", "").strip());
		}
		else {
			add(List.of(members(all)), method, found);
		}
		String code = String.join("\n\n", found);
		if (code.contains("order.sellLocked(")) {
			add(Stream.of(members(read(Order.class))).filter((member) -> member.contains(" sellLocked(")).toList(),
					"sellLocked", found);
		}
		if (code.contains("this.stock")) {
			add(List.of(members(read(StockService.class))), "deduct", found);
		}
		return String.join("\n\n", found) + "\n";
	}

	/** Adds the members with a name, and those of the same class that they use. */
	private static void add(List<String> members, String name, Set<String> found) {
		for (String member : members) {
			if (name.equals(nameOf(member)) && found.add(member.replaceAll("(?m)^\t", ""))) {
				members.stream()
					.map(SourceCode::nameOf)
					.filter((other) -> !other.isEmpty()
							&& Pattern.compile("(?<![.\\w])" + other + "\\b").matcher(member).find())
					.forEach((other) -> add(members, other, found));
			}
		}
	}

	private static String[] members(String source) {
		return source.replaceFirst("\n\n}\\s*$", "").split("\n\n(?=\t\\S)");
	}

	private static String nameOf(String member) {
		Matcher name = NAME.matcher(member);
		return name.find() ? name.group(1) : "";
	}

	private static String read(Class<?> type) {
		try {
			return new ClassPathResource(type.getSimpleName() + ".java", type)
				.getContentAsString(StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException("The source of " + type + " was not packaged", ex);
		}
	}

}
