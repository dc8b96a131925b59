package io.github.holdfast.redisson;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.redisson.api.RTopic;
import org.redisson.api.listener.MessageListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends pauses when a lock was released. Redisson has one subscription for all signals of
 * a channel.
 */
final class ReleaseSignal implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(RedissonLockBackend.class);

	private static final AtomicBoolean warned = new AtomicBoolean();

	private final Semaphore raised = new Semaphore(0);

	private final RTopic topic;

	private final MessageListener<String> listener = (channel, message) -> this.raised.release();

	private CompletableFuture<Integer> subscribed = new CompletableFuture<>();

	ReleaseSignal(RTopic topic) {
		this.topic = topic;
	}

	/**
	 * Begin to listen. What was released before that is seen by the attempt that follows.
	 */
	void listen() {
		this.subscribed = subscribe();
		this.subscribed.whenComplete((id, ex) -> {
			this.raised.release();
			if (ex != null && warned.compareAndSet(false, true)) {
				logger.warn("Redis does not tell when locks are released, so those who wait for one only poll", ex);
			}
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
