package io.github.holdfast.redisson;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import org.redisson.api.RTopic;
import org.redisson.api.listener.MessageListener;

/**
 * Ends pauses when a lock was released. Redisson has one subscription for all signals of
 * a channel.
 */
final class ReleaseSignal implements AutoCloseable {

	private final Semaphore raised = new Semaphore(0);

	private final RTopic topic;

	private final Subscriptions subscriptions;

	private final MessageListener<String> listener = (channel, message) -> this.raised.release();

	private CompletableFuture<Integer> subscribed = new CompletableFuture<>();

	ReleaseSignal(RTopic topic, Subscriptions subscriptions) {
		this.topic = topic;
		this.subscriptions = subscriptions;
	}

	/**
	 * Begin to listen. What was released before that is seen by the attempt that follows.
	 */
	void listen() {
		this.subscribed = subscribe();
		this.subscribed.whenComplete((id, ex) -> {
			this.subscriptions.ended(ex);
			this.raised.release();
		});
	}

	/**
	 * A client that was shut down throws at once.
	 */
	private CompletableFuture<Integer> subscribe() {
		try {
			return this.topic.addListenerAsync(String.class, this.listener).toCompletableFuture();
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	/**
	 * Wait until there was a message.
	 */
	void await(long nanos) throws InterruptedException {
		if (this.raised.tryAcquire(nanos, TimeUnit.NANOSECONDS)) {
			this.raised.drainPermits();
		}
	}

	@Override
	public void close() {
		this.subscribed.thenRun(() -> this.topic.removeListenerAsync(this.listener));
	}

}
