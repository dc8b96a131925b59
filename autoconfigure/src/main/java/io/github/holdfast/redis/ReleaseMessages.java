package io.github.holdfast.redis;

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

/**
 * One connection that is subscribed to the channels of those locks which somebody waits
 * for. It is opened for the first waiter, and Lettuce restores it with its subscriptions
 * when it was lost. Each new subscription raises the signals of its waiters, as messages
 * may have been missed before.
 */
final class ReleaseMessages extends RedisPubSubAdapter<String, String> {

	private static final Logger logger = LoggerFactory.getLogger(RedisLockBackend.class);

	private final Supplier<AbstractRedisClient> client;

	private final Map<String, Set<Signal>> signals = new HashMap<>();

	private @Nullable StatefulRedisPubSubConnection<String, String> connection;

	private @Nullable AbstractRedisClient connectedTo;

	private @Nullable AbstractRedisClient connectingTo;

	private boolean warned;

	ReleaseMessages(Supplier<AbstractRedisClient> client) {
		this.client = client;
	}

	synchronized Signal listen(String channel) {
		Signal signal = new Signal((closed) -> ignore(channel, closed));
		Set<Signal> others = this.signals.get(channel);
		if (others != null) {
			others.add(signal);
			signal.raise();
		}
		else {
			this.signals.put(channel, new HashSet<>(Set.of(signal)));
			subscribe(channel);
		}
		return signal;
	}

	private synchronized void ignore(String channel, Signal signal) {
		Set<Signal> others = this.signals.get(channel);
		if (others != null && others.remove(signal) && others.isEmpty()) {
			this.signals.remove(channel);
			if (this.connection != null) {
				this.connection.async().unsubscribe(channel);
			}
		}
	}

	/**
	 * The channels that somebody listens to.
	 */
	synchronized int size() {
		return this.signals.size();
	}

	private void subscribe(String channel) {
		try {
			AbstractRedisClient client = this.client.get();
			StatefulRedisPubSubConnection<String, String> connection = this.connection;
			if (connection == null || isOver(connection, client)) {
				connect(client);
			}
			else {
				subscribe(connection, channel);
			}
		}
		catch (RuntimeException ex) {
			failed(ex);
		}
	}

	private void subscribe(StatefulRedisPubSubConnection<String, String> connection, String channel) {
		connection.async().subscribe(channel).whenComplete((nothing, ex) -> {
			if (ex != null) {
				failed(ex);
			}
		});
	}

	/**
	 * Whether the connection will not be restored any more.
	 */
	private boolean isOver(StatefulRedisPubSubConnection<String, String> connection, AbstractRedisClient client) {
		return this.connectedTo != client || (!connection.isOpen() && !connection.getOptions().isAutoReconnect());
	}

	/**
	 * Connecting blocks, which nobody who waits for a lock has time for. It may never end
	 * if the client is shut down meanwhile, and a new one must not wait for that.
	 */
	private void connect(AbstractRedisClient client) {
		if (this.connectingTo != client) {
			this.connectingTo = client;
			Thread thread = new Thread(() -> doConnect(client), "holdfast-redis-connect");
			thread.setDaemon(true);
			thread.start();
		}
	}

	private void doConnect(AbstractRedisClient client) {
		try {
			StatefulRedisPubSubConnection<String, String> connection = (client instanceof RedisClusterClient cluster)
					? cluster.connectPubSub(StringCodec.UTF8) : ((RedisClient) client).connectPubSub(StringCodec.UTF8);
			connection.addListener(this);
			connected(client, connection);
		}
		catch (RuntimeException ex) {
			notConnected(client);
			failed(ex);
		}
	}

	private synchronized void connected(AbstractRedisClient client,
			StatefulRedisPubSubConnection<String, String> connection) {
		if (this.connectingTo != client) {
			connection.closeAsync();
			return;
		}
		this.connectingTo = null;
		this.connectedTo = client;
		this.connection = connection;
		this.signals.keySet().forEach(this::subscribe);
	}

	private synchronized void notConnected(AbstractRedisClient client) {
		if (this.connectingTo == client) {
			this.connectingTo = null;
		}
	}

	private synchronized void failed(Throwable failure) {
		if (!this.warned) {
			this.warned = true;
			logger.warn("Redis does not tell when locks are released, so those who wait for one only poll", failure);
		}
	}

	@Override
	public void subscribed(String channel, long count) {
		raise(channel);
	}

	@Override
	public void message(String channel, String message) {
		raise(channel);
	}

	private synchronized void raise(String channel) {
		this.signals.getOrDefault(channel, Set.of()).forEach(Signal::raise);
	}

}
