package io.github.holdfast.documentation;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

import org.slf4j.MDC;

import io.github.holdfast.LockContext;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockMode;

/**
 * Puts the name of the lock and its tokens into the MDC, as long as the call is under it.
 */
class LockMdc implements LockListener {

	private final Map<Long, Optional<String>> before = new ConcurrentHashMap<>();

	@Override
	public void onAcquired(Call call, Duration waitTime) {
		this.before.put(call.id(), Optional.ofNullable(MDC.get("lock")));
		MDC.put("lock", call.name() + " " + tokens(call));
	}

	@Override
	public void ended(Call call) {
		this.before.remove(call.id()).ifPresentOrElse((lock) -> MDC.put("lock", lock), () -> MDC.remove("lock"));
	}

	private static List<Long> tokens(Call call) {
		return (call.mode() != LockMode.OPTIMISTIC)
				? LockContext.current().orElseThrow().leases().stream().map(LockLease::token).toList() : List.of();
	}

}
