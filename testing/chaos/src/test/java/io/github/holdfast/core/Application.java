package io.github.holdfast.core;

import java.lang.reflect.Field;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.github.holdfast.LockLostAfterWorkException;
import io.github.holdfast.LockNotAcquiredException;
import org.jspecify.annotations.Nullable;

/**
 * A manager and its store, and what must hold for all of its calls.
 */
final class Application {

	static final String KEY = "a";

	static final Duration LEASE = Duration.ofSeconds(30);

	static final Duration LONG = Duration.ofMinutes(10);

	final MemoryBackend store;

	final LockManager manager;

	private final List<LockCall> bodies = new ArrayList<>();

	private long token;

	Application(MemoryBackend store, Duration handover) {
		this.store = store;
		this.manager = new LockManager(() -> store, () -> LockGuard.NONE, List::of, (name) -> null,
				LockSettings.DEFAULT, handover);
	}

	/**
	 * Calls a body under the key.
	 * @return how the call ended: {@code held}, {@code lost}, or why it was refused
	 */
	String call(Duration wait, @Nullable Duration minHold, Scene.Step body) {
		try (LockCall call = this.manager.acquire(List.of(KEY), settings(wait, minHold))) {
			enter(call);
			Scene.run(body);
			leave(call);
		}
		catch (LockLostAfterWorkException ex) {
			return "lost";
		}
		catch (LockNotAcquiredException ex) {
			return ex.reason().name();
		}
		return "held";
	}

	String call(Duration wait) {
		return call(wait, null, Scene.NOTHING);
	}

	String call(Duration wait, Scene.Step body) {
		return call(wait, null, body);
	}

	static LockSettings settings(Duration wait, @Nullable Duration minHold) {
		return LockSettings.DEFAULT.withKeyPrefix("").withTimes(new LockSettings.Times(wait, LEASE, null, minHold));
	}

	/**
	 * At each moment, one call at most may believe that the key is its own. The tokens of
	 * such calls rise.
	 */
	private synchronized void enter(LockCall call) {
		if (call.isValid(KEY)) {
			long token = call.fencingToken(KEY);
			this.store.check(token > this.token, "a token did not rise");
			this.token = token;
			for (LockCall other : this.bodies) {
				this.store.check(!other.isValid(KEY), "two holders of one key");
			}
		}
		this.bodies.add(call);
		notifyAll();
	}

	private synchronized void leave(LockCall call) {
		this.bodies.remove(call);
	}

	synchronized void awaitBody() throws InterruptedException {
		while (this.bodies.isEmpty()) {
			wait();
		}
	}

	/**
	 * After all calls, the key is free and nothing is left.
	 */
	void end() {
		this.store.check(call(LONG).equals("held"), "a key is lost");
		this.store.check(this.manager.isIdle(), "a call is left");
		this.store.check(isEmpty((LocalQueue) field(LockManager.class, "queue", this.manager)), "a place is left");
		this.manager.close();
		this.store.end();
	}

	static boolean isEmpty(LocalQueue queue) {
		return ((Map<?, ?>) field(LocalQueue.class, "places", queue)).isEmpty();
	}

	private static Object field(Class<?> type, String name, Object object) {
		try {
			Field field = type.getDeclaredField(name);
			field.setAccessible(true);
			return field.get(object);
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
