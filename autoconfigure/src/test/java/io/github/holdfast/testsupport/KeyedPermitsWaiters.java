package io.github.holdfast.testsupport;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import static org.awaitility.Awaitility.await;

/**
 * Threads that wait in the queue of this JVM.
 */
public final class KeyedPermitsWaiters {

	private KeyedPermitsWaiters() {
	}

	/**
	 * Starts a call, and waits until it waits for its lock.
	 * @param call the call
	 * @return completes with the call
	 */
	public static CompletableFuture<Void> start(Runnable call) {
		CompletableFuture<Void> done = new CompletableFuture<>();
		Thread waiter = new Thread(() -> {
			try {
				call.run();
				done.complete(null);
			}
			catch (Throwable ex) {
				done.completeExceptionally(ex);
			}
		});
		waiter.start();
		await().atMost(Duration.ofSeconds(30))
			.until(() -> List.of(waiter.getStackTrace()).toString().contains("KeyedPermits.await"));
		return done;
	}

}
