package io.github.holdfast.store.redis;

import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;
import org.springframework.util.Assert;

import io.github.holdfast.LockConfigurationException;

/**
 * The addresses of the nodes of a quorum, and the settings of their connections.
 */
final class QuorumNodes implements AutoCloseable {

	private static final String PROPERTY = "'holdfast.redis.quorum.nodes'";

	/** Requests to a node that is connected but does not answer. */
	private static final int MAX_UNANSWERED = 10_000;

	private final LettuceConnectionFactory settings;

	private final LettuceClientConfiguration configuration;

	private final RedisClient client;

	private final List<RedisLocks> nodes;

	QuorumNodes(RedisConnectionFactory factory, List<String> nodes) {
		this.settings = RedisDriver.lettuce(factory);
		this.configuration = this.settings.getClientConfiguration();
		List<RedisURI> addresses = IntStream.range(0, nodes.size())
			.mapToObj((index) -> address(nodes.get(index), index))
			.toList();
		long distinct = addresses.stream()
			.map((address) -> (address.getHost() + ":" + address.getPort()).toLowerCase(Locale.ROOT))
			.distinct()
			.count();
		if (distinct < nodes.size() || distinct < 3 || distinct % 2 == 0) {
			throw new LockConfigurationException(
					PROPERTY + " lists " + nodes.size() + " nodes, " + distinct + " of them different.",
					"List an odd number of independent Redis masters, at least three, each of them "
							+ "once, or remove the property.");
		}
		this.client = this.configuration.getClientResources().map(RedisClient::create).orElseGet(RedisClient::create);
		this.client.setOptions(this.configuration.getClientOptions()
			.orElseGet(ClientOptions::create)
			.mutate()
			.autoReconnect(true)
			.replayFilter((command) -> true)
			.disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
			.requestQueueSize(MAX_UNANSWERED)
			.build());
		this.nodes = addresses.stream()
			.map((address) -> new QuorumNode(this.client, address))
			.map((node) -> new RedisLocks(() -> node))
			.toList();
	}

	List<RedisLocks> locks() {
		return this.nodes;
	}

	/**
	 * An invalid entry is not shown because it may contain a password.
	 */
	private RedisURI address(String node, int index) {
		try {
			RedisURI address = RedisURI.create(node.contains("://") ? node : "redis://" + node);
			Assert.hasText(address.getHost(), "No host and port");
			Assert.isTrue(node.contains("[") || !address.getHost().contains(":"), "No host and port");
			apply(address, node.contains("@"));
			return address;
		}
		catch (IllegalArgumentException ex) {
			throw new LockConfigurationException("Entry " + (index + 1) + " of " + PROPERTY + " is not an address.",
					"Write it as 'host:port', 'redis://host:port' or 'rediss://user:password@host:port'.");
		}
	}

	private void apply(RedisURI address, boolean ownCredentials) {
		address.setSsl(address.isSsl() || this.configuration.isUseSsl());
		address.setStartTls(this.configuration.isStartTls());
		address.setVerifyPeer(this.configuration.getVerifyMode());
		address.setTimeout(this.configuration.getCommandTimeout());
		this.configuration.getClientName().ifPresent(address::setClientName);
		if (!ownCredentials) {
			address.setCredentialsProvider(this.configuration.getRedisCredentialsProviderFactory()
				.orElseGet(() -> new RedisCredentialsProviderFactory() {
				})
				.createCredentialsProvider(this.settings.getStandaloneConfiguration()));
		}
		if (address.getDatabase() == 0) {
			address.setDatabase(this.settings.getDatabase());
		}
	}

	@Override
	public void close() {
		this.client.shutdown(this.configuration.getShutdownQuietPeriod(), this.configuration.getShutdownTimeout());
	}

}
