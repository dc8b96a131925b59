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
 * One connection that is subscribed to the channels of those locks which somebody waits
 * for. It is opened for the first waiter, and Lettuce restores it with its subscriptions
 * when it was lost. Each new subscription raises the signals of its waiters, as messages
 * may have been missed before; one that nobody wants any more is given up again.
 */
final class ReleaseMessages extends RedisPubSubAdapter<String, String> {

	private static final Logger logger = LoggerFactory.getLogger(ReleaseMessages.class);

	/** How long nothing is tried again after a failure. */
	private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(10);

	private final Supplier<AbstractRedisClient> client;

	private final Map<String, Set<Signal>> signals = new HashMap<>();

	private volatile @Nullable StatefulRedisPubSubConnection<String, String> connection;

	private @Nullable AbstractRedisClient connectedTo;

	private @Nullable AbstractRedisClient connectingTo;

	private @Nullable AbstractRedisClient failedClient;

	/** What was subscribed to only to see whether that is possible. */
	private @Nullable String trial;

	private Deadline nextTrial = Deadline.PASSED;

	private volatile boolean subscribed;

	private volatile @Nullable Deadline failure;

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
			StatefulRedisPubSubConnection<String, String> connection = this.connection;
			if (connection != null) {
				connection.async().unsubscribe(channel);
			}
		}
	}

	/**
	 * Whether those who listen get messages, as far as this JVM knows: it has subscribed
	 * to something, and nothing has failed since.
	 */
	boolean arrive() {
		StatefulRedisPubSubConnection<String, String> connection = this.connection;
		return this.subscribed && connection != null && connection.isOpen();
	}

	/**
	 * Whether this JVM has found a short time ago that it gets no messages.
	 */
	boolean haveFailed() {
		Deadline failure = this.failure;
		return failure != null && !failure.hasPassed();
	}

	/**
	 * Find out whether messages arrive, with a channel that nobody is told anything on
	 * and that whoever may use the other one may use as well.
	 */
	synchronized void tryOut(String channel) {
		if (this.nextTrial.hasPassed() && !haveFailed()) {
			this.nextTrial = Deadline.after(PAUSE_AFTER_FAILURE);
			this.trial = channel + ":trial";
			subscribe(this.trial);
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
		if (this.connectingTo != client && (client != this.failedClient || !haveFailed())) {
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
			failed(ex);
			notConnected(client);
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
		if (this.trial != null) {
			subscribe(this.trial);
		}
	}

	private synchronized void notConnected(AbstractRedisClient client) {
		if (this.connectingTo == client) {
			this.connectingTo = null;
			this.failedClient = client;
		}
	}

	private synchronized void failed(Throwable failure) {
		this.subscribed = false;
		this.failure = Deadline.after(PAUSE_AFTER_FAILURE);
		this.trial = null;
		if (!this.warned) {
			this.warned = true;
			logger.warn("Redis does not tell when locks are released, so those who wait for one only poll", failure);
		}
	}

	@Override
	public void subscribed(String channel, long count) {
		this.subscribed = true;
		this.failure = null;
		raise(channel);
		giveUpUnlessWanted(channel);
	}

	/**
	 * Lettuce may have restored what was given up while the connection was lost.
	 */
	private synchronized void giveUpUnlessWanted(String channel) {
		if (channel.equals(this.trial)) {
			this.trial = null;
		}
		StatefulRedisPubSubConnection<String, String> connection = this.connection;
		if (!this.signals.containsKey(channel) && connection != null) {
			connection.async().unsubscribe(channel);
		}
	}

	@Override
	public void message(String channel, String message) {
		raise(channel);
	}

	private synchronized void raise(String channel) {
		this.signals.getOrDefault(channel, Set.of()).forEach(Signal::raise);
	}

}
