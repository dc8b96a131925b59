package io.github.holdfast.autoconfigure;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.holdfast.core.LockConfigurationException;
import io.github.holdfast.store.redis.RedisQuorumLockBackend;
import io.github.holdfast.store.redis.RedisQuorumNodes;

/**
 * Fails the start when no majority of the quorum can keep locks, and warns about each
 * node that cannot.
 */
class RedisQuorumServerCheck implements StoreCheck {

	private static final Logger logger = LoggerFactory.getLogger(RedisQuorumServerCheck.class);

	private static final String PROPERTY = "'holdfast.redis.quorum.nodes'";

	private final RedisQuorumNodes nodes;

	private final LockProperties properties;

	RedisQuorumServerCheck(RedisQuorumNodes nodes, LockProperties properties) {
		this.nodes = nodes;
		this.properties = properties;
	}

	@Override
	public void check() {
		RedisProbe probe = new RedisProbe(LockBackendType.REDIS, PROPERTY, Duration.ZERO);
		this.nodes.backends().forEach((address, backend) -> {
			try {
				probe.takeLock(backend, this.properties);
			}
			catch (LockConfigurationException ex) {
				logger.warn("The node {} of {} keeps no locks: {}", address, PROPERTY, ex.getMessage());
			}
		});
		probe.takeLock(new RedisQuorumLockBackend(this.nodes), this.properties);
		probe.checkEviction(() -> lines("memory", "maxmemory_policy:"));
		checkIndependence();
	}

	/**
	 * One server has many names.
	 */
	private void checkIndependence() {
		Set<String> servers = new HashSet<>();
		if (!runIds().allMatch(servers::add)) {
			throw new LockConfigurationException("Two entries of " + PROPERTY + " are the same Redis server.",
					"List each master once. Its votes must not count for two.");
		}
	}

	private Stream<String> runIds() {
		try {
			return lines("server", "run_id:");
		}
		catch (RuntimeException ex) {
			logger.info("Whether the nodes of {} are different servers is not checked, as INFO is refused", PROPERTY);
			return Stream.empty();
		}
	}

	private Stream<String> lines(String section, String name) {
		List<String> answers = this.nodes.info(section);
		return answers.stream()
			.flatMap(String::lines)
			.filter((line) -> line.startsWith(name))
			.map((line) -> line.substring(name.length()).strip());
	}

}
