package io.github.holdfast.documentation;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

import org.slf4j.MDC;

import io.github.holdfast.LockContext;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockMode;

/** Adds the name of the lock and its fencing tokens to the MDC while a call holds it. */
class LockMdc implements LockListener {

	private final Map<Long, Optional<String>> before = new ConcurrentHashMap<>();

	@Override
	public void onAcquired(Call call, Duration waitTime) {
		this.before.put(call.id(), Optional.ofNullable(MDC.get("lock")));
		MDC.put("lock", call.name() + " " + tokens(call));
	}

	@Override
	public void onReleased(Call call, Outcome outcome, Duration holdTime) {
		this.before.remove(call.id()).ifPresentOrElse((lock) -> MDC.put("lock", lock), () -> MDC.remove("lock"));
	}

	private static List<Long> tokens(Call call) {
		LockContext lock = LockContext.current().orElseThrow();
		return (call.mode() == LockMode.OPTIMISTIC) ? List.of() : call.keys().stream().map(lock::fencingToken).toList();
	}

}
