package io.github.holdfast.testsupport;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Threads on which nothing may block: of timers, and of clients of stores. */
public final class SparedThreads {

	private static final Pattern NAMES = Pattern.compile("holdfast-(timer|schedule)-.*"
			+ "|lettuce-.*|redisson-.*|nioEventLoop.*|vert\\.x-.*|grpc-.*|.*-(EventThread|SendThread).*");

	private static final Queue<AssertionError> violations = new ConcurrentLinkedQueue<>();

	private SparedThreads() {
	}

	/** Notes it, and throws, if the current thread is one of them. */
	public static void check(String what, String... more) {
		String name = Thread.currentThread().getName();
		if (NAMES.matcher(name).matches() || Stream.of(more).anyMatch(name::startsWith)) {
			AssertionError violation = new AssertionError(what + " on thread " + name);
			violations.add(violation);
			throw violation;
		}
	}

	/** Throws what was noted since the last time, even if somebody has caught it. */
	public static void assertSpared() {
		AssertionError violation = violations.poll();
		if (violation != null) {
			violations.clear();
			throw violation;
		}
	}

}
