package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisClient;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.holdfast.store.Deadline;

/**
 * One connection that is subscribed to the channels of all locks for which this JVM
 * waits. Lettuce restores it with its subscriptions. Each subscription raises the signals
 * of its waiters because earlier messages may have been missed.
 */
final class LettuceMessages extends RedisPubSubAdapter<String, String> {

	private static final Logger logger = LoggerFactory.getLogger(LettuceMessages.class);

	private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(10);

	private final Supplier<AbstractRedisClient> client;

	private final Map<String, Set<Runnable>> signals = new HashMap<>();

	private @Nullable AbstractRedisClient connectedTo;

	private @Nullable StatefulRedisPubSubConnection<String, String> connection;

	private Deadline nextAttempt = Deadline.PASSED;

	LettuceMessages(Supplier<AbstractRedisClient> client) {
		this.client = client;
	}

	synchronized Runnable listen(String channel, Runnable signal) {
		Set<Runnable> waiters = this.signals.computeIfAbsent(channel, (name) -> new HashSet<>());
		waiters.add(signal);
		if (waiters.size() > 1) {
			signal.run();
		}
		try {
			AbstractRedisClient client = this.client.get();
			StatefulRedisPubSubConnection<String, String> connection = this.connection;
			if (client != this.connectedTo || connection == null || isOver(connection)) {
				connect(client);
			}
			else if (waiters.size() == 1) {
				subscribe(connection, channel);
			}
		}
		catch (RuntimeException ex) {
			logger.debug("Lettuce cannot listen for releases, so waiters poll", ex);
		}
		return () -> ignore(channel, signal);
	}

	private static boolean isOver(StatefulRedisPubSubConnection<String, String> connection) {
		return !connection.isOpen() && !connection.getOptions().isAutoReconnect();
	}

	private synchronized void ignore(String channel, Runnable signal) {
		Set<Runnable> waiters = this.signals.get(channel);
		if (waiters != null && waiters.remove(signal) && waiters.isEmpty()) {
			this.signals.remove(channel);
			if (this.connection != null) {
				this.connection.async().unsubscribe(channel);
			}
		}
	}

	/**
	 * Connecting blocks, so it has its own thread. It may never end if the client is shut
	 * down in the meantime, so a new client does not wait for it.
	 */
	private void connect(AbstractRedisClient client) {
		if (client == this.connectedTo && !this.nextAttempt.hasPassed()) {
			return;
		}
		this.connectedTo = client;
		this.connection = null;
		this.nextAttempt = Deadline.after(PAUSE_AFTER_FAILURE);
		Thread thread = new Thread(() -> {
			try {
				connected(client,
						(client instanceof RedisClusterClient cluster) ? cluster.connectPubSub(StringCodec.UTF8)
								: ((RedisClient) client).connectPubSub(StringCodec.UTF8));
			}
			catch (RuntimeException ex) {
				failed(ex);
			}
		}, "holdfast-redis-connect");
		thread.setDaemon(true);
		thread.start();
	}

	private synchronized void connected(AbstractRedisClient client,
			StatefulRedisPubSubConnection<String, String> connection) {
		if (client != this.connectedTo || this.connection != null) {
			connection.closeAsync();
			return;
		}
		this.connection = connection;
		connection.addListener(this);
		this.signals.keySet().forEach((channel) -> subscribe(connection, channel));
	}

	private static void subscribe(StatefulRedisPubSubConnection<String, String> connection, String channel) {
		connection.async().subscribe(channel).whenComplete((nothing, ex) -> {
			if (ex != null) {
				failed(ex);
			}
		});
	}

	private static void failed(Throwable failure) {
		logger.warn("Redis refuses to report releases, so waiters poll twice a second", failure);
	}

	@Override
	public synchronized void subscribed(String channel, long count) {
		message(channel, "");
		if (!this.signals.containsKey(channel) && this.connection != null) {
			// Lettuce has restored a subscription that nobody needs
			this.connection.async().unsubscribe(channel);
		}
	}

	@Override
	public synchronized void message(String channel, String message) {
		this.signals.getOrDefault(channel, Set.of()).forEach(Runnable::run);
	}

}
