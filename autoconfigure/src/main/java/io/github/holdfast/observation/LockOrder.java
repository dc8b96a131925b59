package io.github.holdfast.observation;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.holdfast.LockContext;
import io.github.holdfast.LockException;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockRequest;

/**
 * Warns of locks that calls take inside of one another in opposite orders: two such calls
 * wait for each other until a wait time is over. Each pair is warned of once.
 *
 * <p>
 * What is remembered is which key was asked for under which one, as digests, of the last
 * 4096 such pairs. Orders of other nodes are learned from what a busy lock tells of its
 * holder. Calls that hold nothing else cost nothing.
 *
 * @since 0.2.0
 */
public final class LockOrder implements LockListener {

	private static final Logger logger = LoggerFactory.getLogger(LockOrder.class);

	private static final int MOST_PAIRS = 4096;

	/** Of one call, so that one with many keys does not make others forgotten. */
	private static final int MOST_PAIRS_OF_CALL = 64;

	/** Packages of what stands between the code and the locks. */
	private static final Pattern BETWEEN = Pattern
		.compile("(java|javax|jdk|sun|org\\.springframework|io\\.micrometer|kotlin)\\..*"
				+ "|io\\.github\\.holdfast\\.(core|interceptor|transaction|observation|handover)\\..*"
				+ "|io\\.github\\.holdfast\\.LockTemplate.*|.*\\$\\$.*");

	/** As the text of a holder tells it. */
	private static final Pattern HOLDING = Pattern.compile(", holding ((?:'[^']*'(?:, )?)+)");

	private static final Pattern QUOTED = Pattern.compile("'([^']*)'");

	/** Least recently seen first. */
	private final Map<Pair, String> places = new LinkedHashMap<>(16, 0.75f, true);

	private final Map<Long, Set<Long>> after = new HashMap<>();

	private final Set<Pair> warned = Collections.newSetFromMap(new LinkedHashMap<>() {

		private static final long serialVersionUID = 1L;

		@Override
		protected boolean removeEldestEntry(Map.Entry<Pair, Boolean> eldest) {
			return size() > MOST_PAIRS;
		}

	});

	@Override
	public void attempted(Call call) {
		if (call.held().isEmpty() || call.mode() == LockRequest.Mode.OPTIMISTIC) {
			return;
		}
		String place = null;
		int pairs = 0;
		for (String held : call.held()) {
			for (String key : call.keys()) {
				Step step = new Step(held, call.keyPrefix() + key);
				if (pairs++ < MOST_PAIRS_OF_CALL && !isKnown(step)) {
					place = (place != null) ? place : place(call);
					learn(step, place);
				}
			}
		}
	}

	/**
	 * The holder of a busy lock may have taken it inside of another one, on any node.
	 */
	@Override
	public void notAcquired(Call call, Reason reason, Duration waitTime, Throwable cause) {
		if (reason == Reason.BUSY && cause instanceof LockNotAcquiredException busy && busy.holder() != null) {
			Matcher holding = HOLDING.matcher(busy.holder());
			if (holding.find()) {
				QUOTED.matcher(holding.group(1))
					.results()
					.map((held) -> new Step(held.group(1), call.keyPrefix() + busy.key()))
					.filter((step) -> !isKnown(step))
					.forEach((step) -> learn(step, "a holder elsewhere (" + busy.holder() + ")"));
			}
		}
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

	private synchronized boolean isKnown(Step step) {
		return this.places.get(step.pair()) != null;
	}

	private synchronized void learn(Step step, String place) {
		Pair pair = step.pair();
		List<Pair> back = path(pair.second(), pair.first());
		add(pair, place);
		if (back != null && this.warned.add(pair.sorted())) {
			logger
				.warn("Locks are taken in opposite orders, and calls that do so at the same time wait for each other: "
						+ "{} and then {} by {}; the other way round by {}. Take them in one call, which sorts its keys, "
						+ "or always in the same order", LockException.quote(step.held()),
						LockException.quote(step.key()), place,
						back.stream().map(this.places::get).collect(Collectors.joining("; and by ")));
		}
	}

	private void add(Pair pair, String place) {
		this.places.put(pair, place);
		this.after.computeIfAbsent(pair.first(), (first) -> new HashSet<>(2)).add(pair.second());
		if (this.places.size() > MOST_PAIRS) {
			Pair eldest = this.places.keySet().iterator().next();
			this.places.remove(eldest);
			this.after.computeIfPresent(eldest.first(), (first, seconds) -> {
				seconds.remove(eldest.second());
				return seconds.isEmpty() ? null : seconds;
			});
		}
	}

	/**
	 * How much is remembered.
	 */
	synchronized int pairs() {
		return this.places.size();
	}

	/**
	 * The shortest way from one lock to another one, each taken under the one before.
	 */
	private @Nullable List<Pair> path(long from, long to) {
		Map<Long, Long> before = new HashMap<>();
		Deque<Long> open = new ArrayDeque<>(List.of(from));
		while (!open.isEmpty()) {
			long key = open.remove();
			for (long next : this.after.getOrDefault(key, Set.of())) {
				if (before.putIfAbsent(next, key) == null) {
					if (next == to) {
						return path(before, from, to);
					}
					open.add(next);
				}
			}
		}
		return null;
	}

	private static List<Pair> path(Map<Long, Long> before, long from, long to) {
		List<Pair> path = new ArrayList<>();
		long key = to;
		do {
			long previous = before.get(key);
			path.add(0, new Pair(previous, key));
			key = previous;
		}
		while (key != from);
		return path;
	}

	/**
	 * A lock that is asked for under another one.
	 */
	private record Step(String held, String key, Pair pair) {

		private Step(String held, String key) {
			this(held, key, new Pair(KeyDigest.asLong(held), KeyDigest.asLong(key)));
		}

	}

	/**
	 * The digests of two locks.
	 */
	private record Pair(long first, long second) {

		private Pair sorted() {
			return (this.first <= this.second) ? this : new Pair(this.second, this.first);
		}

	}

}
