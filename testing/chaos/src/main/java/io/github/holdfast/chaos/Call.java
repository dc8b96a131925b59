package io.github.holdfast.chaos;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A call that has ended, as its node has written it down. Times are those of
 * {@link System#nanoTime()}, which all processes of a machine share.
 *
 * @param id tells it from all others of the run
 * @param kind what it was
 * @param node the node
 * @param started when it was made
 * @param ended when it returned
 * @param ending how it ended
 * @param runs how often its body ran
 * @param touches what its transactions did
 * @param holds when it ran under which lock
 * @param left what it left behind on its thread, usually nothing
 * @param detail what it threw
 */
record Call(String id, Step.Kind kind, int node, long started, long ended, Ending ending, int runs, List<Touch> touches,
		List<Hold> holds, String left, String detail) {

	private static final String SEPARATOR = "\t";

	@Override
	public String toString() {
		return String.join(SEPARATOR, this.id, this.kind.name(), String.valueOf(this.node),
				String.valueOf(this.started), String.valueOf(this.ended), this.ending.name(), String.valueOf(this.runs),
				join(this.touches), join(this.holds), oneLine(this.left), oneLine(this.detail));
	}

	static Call parse(String line) {
		String[] parts = line.split(SEPARATOR, -1);
		return new Call(parts[0], Step.Kind.valueOf(parts[1]), Integer.parseInt(parts[2]), Long.parseLong(parts[3]),
				Long.parseLong(parts[4]), Ending.valueOf(parts[5]), Integer.parseInt(parts[6]),
				split(parts[7]).map(Touch::parse).toList(), split(parts[8]).map(Hold::parse).toList(), parts[9],
				parts[10]);
	}

	private static String join(List<?> elements) {
		return elements.stream().map(Object::toString).collect(Collectors.joining("|"));
	}

	private static Stream<String> split(String text) {
		return Arrays.stream(text.split("\\|")).filter((part) -> !part.isEmpty());
	}

	private static String oneLine(String text) {
		return text.replaceAll("\\s+", " ");
	}

	/**
	 * The time for which a body ran under a lock.
	 *
	 * @param key the key of the lock
	 * @param from when the body began
	 * @param to when the body ended
	 */
	record Hold(String key, long from, long to) {

		@Override
		public String toString() {
			return "%s %d %d".formatted(this.key, this.from, this.to);
		}

		static Hold parse(String text) {
			String[] words = text.split(" ");
			return new Hold(words[0], Long.parseLong(words[1]), Long.parseLong(words[2]));
		}

	}

}
