package io.github.holdfast.observation;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.util.function.SingletonSupplier;

import io.github.holdfast.LockContext;
import io.github.holdfast.LockException;
import io.github.holdfast.LockListener.Call;
import io.github.holdfast.LockRequest;
import io.github.holdfast.store.Digest;

/**
 * The order in which locks are taken inside of one another. Remembers which key was asked
 * for under which one, as digests, of the last 4096 such pairs. Orders of other nodes are
 * learned from what a busy lock tells of its holder.
 */
final class LockOrder {

	private static final Logger logger = LoggerFactory.getLogger(LockOrder.class);

	private static final int MOST_PAIRS = 4096;

	/** Of one call, so that one with many keys does not make others forgotten. */
	private static final int MOST_PAIRS_OF_CALL = 64;

	/** Packages of what stands between the code and the locks. */
	private static final Pattern BETWEEN = Pattern
		.compile("(java|javax|jdk|sun|org\\.springframework|io\\.micrometer|kotlin)\\..*"
				+ "|io\\.github\\.holdfast\\.(core|interceptor|check|transaction|observation|store)\\..*"
				+ "|io\\.github\\.holdfast\\.LockTemplate.*|.*\\$\\$.*");

	/** Each of them, as the text of a holder tells them. */
	private static final Pattern HOLDING = Pattern.compile("(?:, holding|\\G,) '([^']*)'");

	/** Least recently seen first. */
	private final Map<Pair, String> places = new LinkedHashMap<>(16, 0.75f, true);

	private final Map<String, Set<Pair>> after = new HashMap<>();

	private final Set<Set<String>> warned = new HashSet<>();

	/**
	 * Optimistic calls wait for nobody.
	 */
	void asked(Call call) {
		if (call.held().isEmpty() || call.mode() == LockRequest.Mode.OPTIMISTIC || !logger.isWarnEnabled()) {
			return;
		}
		Supplier<String> place = SingletonSupplier.of(() -> place(call));
		call.held()
			.stream()
			.flatMap((held) -> call.keys().stream().map((key) -> new String[] { held, call.keyPrefix() + key }))
			.limit(MOST_PAIRS_OF_CALL)
			.forEach((step) -> learn(step[0], step[1], place));
	}

	/**
	 * The holder of a busy lock may have taken it inside of another one, on any node.
	 */
	void busy(String key, String holder) {
		HOLDING.matcher(holder)
			.results()
			.forEach((held) -> learn(held.group(1), key, () -> "a holder elsewhere (" + holder + ")"));
	}

	/**
	 * How much is remembered.
	 */
	synchronized int pairs() {
		return this.places.size();
	}

	private static String place(Call call) {
		String outer = LockContext.current().map((lock) -> "'" + lock.name() + "' then ").orElse("");
		String frame = StackWalker.getInstance()
			.walk((frames) -> frames.filter((it) -> !BETWEEN.matcher(it.getClassName()).matches())
				.findFirst()
				.map((it) -> it.toStackTraceElement().toString())
				.orElse("an unknown place"));
		return outer + "'" + call.name() + "' at " + frame;
	}

	private synchronized void learn(String held, String key, Supplier<String> place) {
		Pair pair = new Pair(Digest.ofKey(held), Digest.ofKey(key));
		if (this.places.get(pair) != null) {
			return;
		}
		String back = way(pair.key(), pair.held());
		remember(pair, place.get());
		if (back != null && isFirstWarning(pair)) {
			logger.warn(
					"Locks are taken in opposite orders, and calls that do so at the same time wait for each other: "
							+ "{} and then {} by {}; the other way round by {}. Take them in one call, which sorts its "
							+ "keys, or always in the same order",
					LockException.quote(held), LockException.quote(key), place.get(), back);
		}
	}

	private boolean isFirstWarning(Pair pair) {
		if (this.warned.size() == MOST_PAIRS) {
			this.warned.clear();
		}
		return this.warned.add(Set.of(pair.held(), pair.key()));
	}

	private void remember(Pair pair, String place) {
		this.places.put(pair, place);
		this.after.computeIfAbsent(pair.held(), (held) -> new HashSet<>(2)).add(pair);
		if (this.places.size() > MOST_PAIRS) {
			Pair eldest = this.places.keySet().iterator().next();
			this.places.remove(eldest);
			Set<Pair> others = this.after.getOrDefault(eldest.held(), Set.of());
			others.remove(eldest);
			if (others.isEmpty()) {
				this.after.remove(eldest.held());
			}
		}
	}

	/**
	 * The places of the shortest way from one lock to another one, each taken under the
	 * one before.
	 */
	private @Nullable String way(String from, String to) {
		Map<String, Pair> reachedBy = new HashMap<>();
		Deque<String> open = new ArrayDeque<>(Set.of(from));
		while (!open.isEmpty() && !reachedBy.containsKey(to)) {
			for (Pair pair : this.after.getOrDefault(open.remove(), Set.of())) {
				if (reachedBy.putIfAbsent(pair.key(), pair) == null) {
					open.add(pair.key());
				}
			}
		}
		Deque<String> way = new ArrayDeque<>();
		for (Pair pair = reachedBy.get(to); pair != null; pair = reachedBy.get(pair.held())) {
			way.addFirst(String.valueOf(this.places.get(pair)));
			if (pair.held().equals(from)) {
				return String.join("; and by ", way);
			}
		}
		return null;
	}

	/**
	 * The digests of a lock and of one that was asked for under it.
	 */
	private record Pair(String held, String key) {

	}

}
