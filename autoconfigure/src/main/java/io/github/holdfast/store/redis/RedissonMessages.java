package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;
import org.redisson.api.RTopic;
import org.redisson.api.RedissonClient;
import org.redisson.api.listener.MessageListener;
import org.redisson.client.codec.StringCodec;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.holdfast.store.Deadline;

/**
 * Redisson's subscriptions to the channels of those locks which somebody waits for, and
 * whether those who listen are told anything, as far as these show.
 */
final class RedissonMessages {

	private static final Logger logger = LoggerFactory.getLogger(RedissonMessages.class);

	private static final AtomicBoolean warned = new AtomicBoolean();

	/** How long a failure counts, as some may work while there are too many of them. */
	private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(10);

	private final RedissonClient client;

	private volatile boolean succeeded;

	private volatile @Nullable Deadline failure;

	private Deadline nextTrial = Deadline.PASSED;

	RedissonMessages(RedissonClient client) {
		this.client = client;
	}

	/**
	 * Redisson has one subscription for all signals of a channel. What was released
	 * before it is seen by the attempt that follows.
	 */
	Signal listen(String channel) {
		RTopic topic = topic(channel);
		CompletableFuture<Signal> closed = new CompletableFuture<>();
		Signal signal = new Signal(closed::complete);
		MessageListener<String> listener = (name, message) -> signal.raise();
		CompletableFuture<Integer> subscribed = subscribe(topic, listener);
		subscribed.whenComplete((id, ex) -> {
			ended(ex);
			signal.raise();
		});
		subscribed.thenAcceptBoth(closed, (id, nobody) -> topic.removeListenerAsync(listener));
		return signal;
	}

	/**
	 * A client that was shut down throws at once.
	 */
	private static CompletableFuture<Integer> subscribe(RTopic topic, MessageListener<String> listener) {
		try {
			return topic.addListenerAsync(String.class, listener).toCompletableFuture();
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	private void ended(@Nullable Throwable failure) {
		this.succeeded = failure == null;
		if (failure != null) {
			this.failure = Deadline.after(PAUSE_AFTER_FAILURE);
			if (warned.compareAndSet(false, true)) {
				logger.warn("Redis does not tell when locks are released, so those who wait for one only poll",
						failure);
			}
		}
	}

	/**
	 * Whether those who listen get messages, as far as this JVM knows: its last
	 * subscription has worked, and none has failed a short time ago.
	 */
	boolean arrive() {
		return this.succeeded && !haveFailed();
	}

	boolean haveFailed() {
		Deadline failure = this.failure;
		return failure != null && !failure.hasPassed();
	}

	/**
	 * Find out whether messages arrive, with a channel that nobody is told anything on
	 * and that whoever may use the other one may use as well.
	 */
	void tryOut(String channel) {
		if (isTrialDue()) {
			listen(channel + ":trial").close();
		}
	}

	private synchronized boolean isTrialDue() {
		if (arrive() || haveFailed() || !this.nextTrial.hasPassed()) {
			return false;
		}
		this.nextTrial = Deadline.after(PAUSE_AFTER_FAILURE);
		return true;
	}

	/**
	 * The number of those who listen to a channel.
	 */
	CompletionStage<Long> listeners(String channel) {
		return topic(channel).countSubscribersAsync();
	}

	/**
	 * Tell those who listen.
	 * @return how many they are
	 */
	CompletionStage<Long> publish(String channel) {
		return topic(channel).publishAsync("1");
	}

	String nameOf(String channel) {
		return topic(channel).getChannelNames().get(0);
	}

	private RTopic topic(String channel) {
		return this.client.getTopic(channel, StringCodec.INSTANCE);
	}

}
