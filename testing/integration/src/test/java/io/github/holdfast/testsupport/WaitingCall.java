package io.github.holdfast.testsupport;

import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockContext;
import io.github.holdfast.LockTemplate;

/**
 * A call on a thread of its own that has to wait for its lock.
 */
public final class WaitingCall {

	private WaitingCall() {
	}

	/**
	 * Starts a call, and returns when it waits in the queue of this JVM, or has ended.
	 * @param locks takes the lock
	 * @param key a key that another thread of this JVM holds
	 * @return whether the body ran under a lock
	 */
	public static CompletableFuture<Boolean> start(LockTemplate locks, String key) {
		return start(() -> locks.execute(key, () -> LockContext.current().isPresent()));
	}

	/**
	 * Starts a call, and returns when it waits in the queue of this JVM, or has ended.
	 * @param <T> the type of the result
	 * @param body takes a lock that another thread of this JVM holds
	 * @return the result
	 */
	public static <T extends @Nullable Object> CompletableFuture<T> start(Supplier<T> body) {
		CompletableFuture<T> call = new CompletableFuture<>();
		Thread thread = new Thread(() -> {
			try {
				call.complete(body.get());
			}
			catch (RuntimeException | Error ex) {
				call.completeExceptionally(ex);
			}
		}, "waiting-call");
		thread.setDaemon(true);
		thread.start();
		Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> call.isDone() || isQueued(thread));
		return call;
	}

	/**
	 * In the queue, or in the database as the first one of the queue.
	 */
	private static boolean isQueued(Thread thread) {
		return Arrays.stream(thread.getStackTrace())
			.anyMatch((frame) -> frame.getClassName().endsWith("LocalQueue$Place")
					|| frame.getClassName().endsWith("LockRows") && frame.getMethodName().startsWith("take"));
	}

}
