package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
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

import io.github.holdfast.store.Polling.Deadline;

/**
 * One connection that is subscribed to the channels of all locks for which this JVM
 * waits. Lettuce restores it with its subscriptions. Each subscription raises the signals
 * of its waiters because earlier messages may have been missed.
 */
final class LettuceMessages extends RedisPubSubAdapter<String, String> {

	private static final Logger logger = LoggerFactory.getLogger(LettuceMessages.class);

	private final Supplier<AbstractRedisClient> client;

	private final Map<String, Set<Runnable>> signals = new HashMap<>();

	private @Nullable AbstractRedisClient connectedTo;

	private CompletableFuture<StatefulRedisPubSubConnection<String, String>> connection = new CompletableFuture<>();

	private Deadline nextAttempt = Deadline.PASSED;

	private boolean warned;

	LettuceMessages(Supplier<AbstractRedisClient> client) {
		this.client = client;
	}

	synchronized Runnable listen(String channel, Runnable signal) {
		this.signals.computeIfAbsent(channel, (name) -> new HashSet<>()).add(signal);
		connection().thenCompose((connection) -> connection.async().subscribe(channel)).whenComplete(this::warn);
		return () -> ignore(channel, signal);
	}

	private synchronized void ignore(String channel, Runnable signal) {
		Set<Runnable> waiters = this.signals.get(channel);
		if (waiters != null && waiters.remove(signal) && waiters.isEmpty()) {
			this.signals.remove(channel);
			this.connection.thenAccept((connection) -> connection.async().unsubscribe(channel));
		}
	}

	/**
	 * Connecting blocks, so it has its own thread. It may never end if the client is shut
	 * down in the meantime, so a new client does not wait for it.
	 */
	private CompletableFuture<StatefulRedisPubSubConnection<String, String>> connection() {
		AbstractRedisClient client = this.client.get();
		if (client != this.connectedTo
				|| (this.connection.isCompletedExceptionally() && this.nextAttempt.hasPassed())) {
			this.connectedTo = client;
			this.nextAttempt = Deadline.after(Duration.ofSeconds(10));
			this.connection = CompletableFuture.supplyAsync(() -> connect(client), (connecting) -> {
				Thread thread = new Thread(connecting, "holdfast-redis-connect");
				thread.setDaemon(true);
				thread.start();
			});
		}
		return this.connection;
	}

	private StatefulRedisPubSubConnection<String, String> connect(AbstractRedisClient client) {
		StatefulRedisPubSubConnection<String, String> connection = (client instanceof RedisClusterClient cluster)
				? cluster.connectPubSub(StringCodec.UTF8) : ((RedisClient) client).connectPubSub(StringCodec.UTF8);
		connection.addListener(this);
		return connection;
	}

	private synchronized void warn(Void nothing, @Nullable Throwable failure) {
		if (failure != null && !this.warned) {
			this.warned = true;
			logger.warn("Redis does not report releases of locks, so waiters poll twice a second", failure);
		}
	}

	@Override
	public synchronized void subscribed(String channel, long count) {
		message(channel, "");
		if (!this.signals.containsKey(channel)) {
			// Lettuce has restored a subscription that no waiter needs
			this.connection.thenAccept((connection) -> connection.async().unsubscribe(channel));
		}
	}

	@Override
	public synchronized void message(String channel, String message) {
		this.signals.getOrDefault(channel, Set.of()).forEach(Runnable::run);
	}

}
