package io.github.holdfast.observation;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

import io.github.holdfast.LockContext;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockRequest;

/**
 * Puts the name and the tokens of the innermost lock into the context of the log while
 * the code under it runs. What was there before is put back.
 *
 * @since 0.2.0
 */
public final class LockMdc implements LockListener {

	private static final String NAME = "lock.name";

	private static final String TOKEN = "lock.token";

	private final Map<Long, Before> before = new ConcurrentHashMap<>();

	@Override
	public void acquired(Call call, Duration waitTime) {
		this.before.put(call.id(), new Before(Thread.currentThread(), MDC.get(NAME), MDC.get(TOKEN)));
		MDC.put(NAME, call.name());
		put(TOKEN, (call.mode() != LockRequest.Mode.OPTIMISTIC) ? tokens() : null);
	}

	private static @Nullable String tokens() {
		return LockContext.current()
			.map((lock) -> lock.leases()
				.stream()
				.map(LockLease::token)
				.map(String::valueOf)
				.collect(Collectors.joining(",")))
			.orElse(null);
	}

	/**
	 * The context belongs to the thread that has acquired the lock.
	 */
	@Override
	public void ended(Call call) {
		Before before = this.before.remove(call.id());
		if (before != null && before.thread() == Thread.currentThread()) {
			put(NAME, before.name());
			put(TOKEN, before.token());
		}
	}

	private static void put(String key, @Nullable String value) {
		if (value != null) {
			MDC.put(key, value);
		}
		else {
			MDC.remove(key);
		}
	}

	/**
	 * What was in the context of a thread.
	 */
	private record Before(Thread thread, @Nullable String name, @Nullable String token) {

	}

}
