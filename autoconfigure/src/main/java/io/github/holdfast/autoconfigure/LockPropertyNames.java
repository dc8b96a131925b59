package io.github.holdfast.autoconfigure;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The names of all properties of this library, to tell a name that is none from those
 * that are, in each of the forms in which a name can be written.
 */
final class LockPropertyNames {

	static final String PREFIX = "holdfast.";

	/** Below it are names of locks. */
	static final String LOCKS = "holdfast.locks";

	/** Below it are names of backends. */
	static final String BACKENDS = "holdfast.backends";

	/** The properties that each backend has for itself. */
	private static final Predicate<String> OF_EACH_BACKEND = Pattern
		.compile("holdfast\\.((etcd|handover|jdbc|redis|zookeeper)\\..*|fence\\.source)")
		.asMatchPredicate();

	static final List<String> ALL = List.of("holdfast.backend", BACKENDS, "holdfast.commit-guard", "holdfast.enabled",
			"holdfast.etcd.endpoints", "holdfast.etcd.namespace", "holdfast.etcd.password", "holdfast.etcd.ssl.bundle",
			"holdfast.etcd.username", "holdfast.fence.continue-on-error", "holdfast.fence.initialize-schema",
			"holdfast.fence.platform", "holdfast.fence.schema", "holdfast.fence.source", "holdfast.handover.max-time",
			"holdfast.handover.max-turns", "holdfast.handover.max-waiters", "holdfast.handover.max-waiters-per-key",
			"holdfast.jdbc.continue-on-error", "holdfast.jdbc.initialize-schema", "holdfast.jdbc.max-sessions",
			"holdfast.jdbc.mode", "holdfast.jdbc.platform", "holdfast.jdbc.purge-after", "holdfast.jdbc.schema",
			"holdfast.jpa.stale-context", "holdfast.key-prefix", "holdfast.lease-time", LOCKS, "holdfast.mdc-enabled",
			"holdfast.migration.also-key-prefix", "holdfast.migration.also-lock", "holdfast.on-active-transaction",
			"holdfast.on-opposite-order", "holdfast.on-self-call", "holdfast.order", "holdfast.redis.quorum.nodes",
			"holdfast.unguarded-transaction-managers", "holdfast.wait-time", "holdfast.warn-after.held",
			"holdfast.warn-after.waited", "holdfast.zookeeper.connect-string", "holdfast.zookeeper.connection-timeout",
			"holdfast.zookeeper.namespace", "holdfast.zookeeper.password", "holdfast.zookeeper.session-timeout",
			"holdfast.zookeeper.username");

	private LockPropertyNames() {
	}

	/**
	 * Whether a name in a file or on the command line means a property, or begins the
	 * names of some.
	 * @param name as it is written there
	 */
	static boolean isKnown(String name) {
		String written = uniform(name);
		return written.startsWith(LOCKS + ".") || isOfBackend(written)
				|| ALL.stream().map(LockPropertyNames::uniform).anyMatch((known) -> known.equals(written));
	}

	/**
	 * Whether a name is that of a property below the name of a backend.
	 */
	private static boolean isOfBackend(String written) {
		String[] parts = written.split("\\.", 4);
		return parts.length == 4 && written.startsWith(BACKENDS + ".")
				&& ofBackends().anyMatch((known) -> uniform(known).equals(parts[3]));
	}

	/**
	 * What can be below the name of a backend.
	 */
	private static Stream<String> ofBackends() {
		return Stream.concat(Stream.of("connection", "type"),
				ALL.stream().filter(LockPropertyNames::isOfEachBackend).map((name) -> name.substring(PREFIX.length())));
	}

	/**
	 * Whether each backend has the property for itself.
	 * @param property the name for the default backend
	 */
	static boolean isOfEachBackend(String property) {
		return OF_EACH_BACKEND.test(property);
	}

	/**
	 * Whether a name is one below which there are properties: a file may have it with
	 * nothing below.
	 */
	static boolean isGroup(String name) {
		return ALL.stream().anyMatch((known) -> uniform(known).startsWith(uniform(name) + "."));
	}

	/**
	 * Whether an environment variable means a property.
	 * @param variable its name
	 */
	static boolean isKnownVariable(String variable) {
		String written = variable.toUpperCase(Locale.ROOT).replaceFirst("(_\\d+)+_?$", "").replace("_", "");
		return written.startsWith(LOCKS.toUpperCase(Locale.ROOT).replace(".", ""))
				|| written.startsWith(BACKENDS.toUpperCase(Locale.ROOT).replace(".", ""))
				|| ALL.stream()
					.map(LockPropertyNames::variable)
					.anyMatch((known) -> known.replace("_", "").equals(written));
	}

	/**
	 * The environment variable of a property.
	 */
	static String variable(String name) {
		return name.replace("-", "").replace('.', '_').toUpperCase(Locale.ROOT);
	}

	/**
	 * The property that was most likely meant.
	 * @param name a name that is none
	 */
	static String nearest(String name) {
		String written = uniform(name);
		Map<String, Integer> distances = new TreeMap<>();
		String[] parts = name.split("\\.", 4);
		if (parts.length == 4 && written.startsWith(BACKENDS + ".")) {
			ofBackends().forEach((known) -> distances.put(BACKENDS + "." + parts[2] + "." + known,
					distance(uniform(parts[3]), uniform(known))));
			return nearest(distances);
		}
		ALL.forEach((known) -> distances.put(known, distance(written, uniform(known))));
		String group = written.replaceFirst("^([^.]*\\.[^.]*)\\..*", "$1");
		List.of(BACKENDS, LOCKS).forEach((names) -> distances.put(names, edits(group, names)));
		return nearest(distances);
	}

	/**
	 * The property that was most likely meant by an environment variable.
	 * @param variable a name that is none
	 */
	static String nearestOfVariable(String variable) {
		String written = PREFIX + variable.substring(PREFIX.length()).replace("_", "").toLowerCase(Locale.ROOT);
		Map<String, Integer> distances = new TreeMap<>();
		ALL.forEach((known) -> {
			String joined = PREFIX + uniform(known).substring(PREFIX.length()).replace(".", "");
			distances.put(known, Math.min(edits(written, joined), 2 + edits(last(written), last(uniform(known)))));
		});
		return nearest(distances);
	}

	private static String nearest(Map<String, Integer> distances) {
		return distances.entrySet()
			.stream()
			.min(Map.Entry.comparingByValue(Comparator.naturalOrder()))
			.orElseThrow()
			.getKey();
	}

	/**
	 * A name in the wrong group is near, too.
	 */
	private static int distance(String written, String known) {
		return Math.min(edits(written, known), 2 + edits(last(written), last(known)));
	}

	private static String last(String name) {
		return name.substring(name.lastIndexOf('.') + 1);
	}

	private static String uniform(String name) {
		return name.replaceAll("\\[\\d*\\]$", "")
			.replaceAll("\\[.*\\]", ".x")
			.replace("-", "")
			.replace("_", "")
			.toLowerCase(Locale.ROOT);
	}

	/**
	 * How many characters must be added, removed or replaced.
	 */
	private static int edits(String from, String to) {
		int[] previous = new int[to.length() + 1];
		for (int j = 0; j <= to.length(); j++) {
			previous[j] = j;
		}
		for (int i = 1; i <= from.length(); i++) {
			int[] current = new int[to.length() + 1];
			current[0] = i;
			for (int j = 1; j <= to.length(); j++) {
				int replaced = previous[j - 1] + ((from.charAt(i - 1) == to.charAt(j - 1)) ? 0 : 1);
				current[j] = Math.min(replaced, Math.min(previous[j], current[j - 1]) + 1);
			}
			previous = current;
		}
		return previous[to.length()];
	}

}
