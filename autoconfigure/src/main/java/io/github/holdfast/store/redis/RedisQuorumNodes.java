package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;
import org.springframework.util.StringUtils;

import io.github.holdfast.LockBackend;
import io.github.holdfast.core.LockConfigurationException;
import io.github.holdfast.store.AnswerTimeout;

/**
 * The independent Redis masters of a quorum, with one connection to each. They are opened
 * at the first use. Safe for use by many threads.
 *
 * @since 0.2.0
 */
public final class RedisQuorumNodes implements AutoCloseable {

	private static final String PROPERTY = "'holdfast.redis.quorum.nodes'";

	private static final int MIN_NODES = 3;

	/** Of one node that is connected but does not answer. */
	private static final int MAX_UNANSWERED = 10_000;

	private static final Duration INFO_TIMEOUT = Duration.ofSeconds(2);

	private final LettuceClientConfiguration configuration;

	private final RedisClient client;

	private final List<QuorumNode> nodes;

	private RedisQuorumNodes(LettuceClientConfiguration configuration, List<RedisURI> addresses) {
		this.configuration = configuration;
		this.client = configuration.getClientResources().map(RedisClient::create).orElseGet(RedisClient::create);
		this.client.setOptions(configuration.getClientOptions()
			.orElseGet(ClientOptions::create)
			.mutate()
			.autoReconnect(true)
			.disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
			.requestQueueSize(MAX_UNANSWERED)
			.build());
		this.nodes = addresses.stream().map((address) -> new QuorumNode(this.client, address)).toList();
	}

	/**
	 * Creates the connections.
	 * @param settings the application's connections, whose credentials, TLS, time-outs
	 * and other settings of Lettuce are used
	 * @param nodes an odd number of addresses, at least three, as {@code host:port},
	 * {@code redis://} or {@code rediss://} with credentials and database of their own if
	 * need be
	 * @return the nodes
	 * @throws LockConfigurationException if the addresses cannot be used
	 */
	public static RedisQuorumNodes of(RedisConnectionFactory settings, List<String> nodes) {
		if (!(settings instanceof LettuceConnectionFactory lettuce)) {
			throw new LockConfigurationException(
					"The quorum of " + PROPERTY + " needs Lettuce, but the application's RedisConnectionFactory is a "
							+ settings.getClass().getSimpleName() + ".",
					"Set 'spring.data.redis.client-type' to 'lettuce', or remove " + PROPERTY + ".");
		}
		if (nodes.size() < MIN_NODES || nodes.size() % 2 == 0) {
			throw new LockConfigurationException(PROPERTY + " lists " + nodes.size() + " nodes.",
					"List an odd number of independent Redis masters, at least " + MIN_NODES + ", or remove it.");
		}
		Set<String> known = new HashSet<>();
		List<RedisURI> addresses = IntStream.range(0, nodes.size())
			.mapToObj((index) -> address(nodes.get(index), index, lettuce))
			.toList();
		addresses.forEach((address) -> {
			String name = (address.getHost() + ":" + address.getPort()).toLowerCase(Locale.ROOT);
			if (!known.add(name)) {
				throw new LockConfigurationException(PROPERTY + " lists '" + name + "' twice.",
						"List each master once. Its votes must not count for two.");
			}
		});
		return new RedisQuorumNodes(lettuce.getClientConfiguration(), addresses);
	}

	/**
	 * An entry may contain a password, so it is not shown.
	 */
	private static RedisURI address(String node, int index, LettuceConnectionFactory settings) {
		try {
			RedisURI address = RedisURI.create(node.contains("://") ? node : "redis://" + node);
			if (!StringUtils.hasText(address.getHost()) || (address.getHost().contains(":") && !node.contains("["))) {
				throw new IllegalArgumentException("No host and port");
			}
			apply(settings, address, node.contains("@"));
			return address;
		}
		catch (IllegalArgumentException ex) {
			throw new LockConfigurationException("Entry " + (index + 1) + " of " + PROPERTY + " is no address.",
					"Write it as 'host:port', 'redis://host:port' or 'rediss://user:password@host:port'.");
		}
	}

	private static void apply(LettuceConnectionFactory settings, RedisURI address, boolean ownCredentials) {
		LettuceClientConfiguration configuration = settings.getClientConfiguration();
		address.setSsl(address.isSsl() || configuration.isUseSsl());
		address.setStartTls(configuration.isStartTls());
		address.setVerifyPeer(configuration.getVerifyMode());
		address.setTimeout(configuration.getCommandTimeout());
		configuration.getClientName().ifPresent(address::setClientName);
		if (!ownCredentials) {
			address.setCredentialsProvider(configuration.getRedisCredentialsProviderFactory()
				.orElseGet(() -> new RedisCredentialsProviderFactory() {
				})
				.createCredentialsProvider(authentication(settings)));
		}
		if (address.getDatabase() == 0) {
			address.setDatabase(settings.getDatabase());
		}
	}

	private static RedisConfiguration authentication(LettuceConnectionFactory settings) {
		return Stream.<RedisConfiguration>of(settings.getClusterConfiguration(), settings.getSentinelConfiguration())
			.filter(Objects::nonNull)
			.findFirst()
			.orElseGet(settings::getStandaloneConfiguration);
	}

	List<RedisLocks> locks(Duration counterRetention) {
		return this.nodes.stream().map((node) -> new RedisLocks(() -> node, counterRetention)).toList();
	}

	/**
	 * Each node as a store of its own, to find out which of them can keep locks.
	 * @return the stores by their addresses
	 */
	public Map<String, LockBackend> backends() {
		Map<String, LockBackend> backends = new LinkedHashMap<>();
		this.nodes.forEach((node) -> backends.put(node.toString(),
				new RedisLockBackend(new RedisLocks(() -> node, RedisLockBackend.COUNTER_RETENTION), "redis")));
		return backends;
	}

	/**
	 * Asks all nodes for {@code INFO}.
	 * @param section the section
	 * @return the answers of those that can be reached
	 * @throws RuntimeException if none answers
	 */
	public List<String> info(String section) {
		AnswerTimeout timeout = new AnswerTimeout(INFO_TIMEOUT);
		List<CompletableFuture<String>> answers = this.nodes.stream()
			.map((node) -> timeout.limit(node.info(section)))
			.toList();
		List<String> answered = answers.stream()
			.map((answer) -> answer.exceptionally((ex) -> "").join())
			.filter((answer) -> !answer.isEmpty())
			.toList();
		return answered.isEmpty() ? List.of(answers.get(0).join()) : answered;
	}

	/**
	 * Closes all connections.
	 */
	@Override
	public void close() {
		this.client.shutdown(this.configuration.getShutdownQuietPeriod(), this.configuration.getShutdownTimeout());
	}

}
