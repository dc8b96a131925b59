package io.github.holdfast.autoconfigure;

import org.apache.curator.framework.CuratorFramework;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;

import io.github.holdfast.store.zookeeper.ZooKeeperLockBackend;

/**
 * Locks in ZooKeeper.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(CuratorFramework.class)
@Conditional({ LockBackendCondition.class, ZooKeeperLockConfiguration.OnClientCondition.class })
@EnableConfigurationProperties(LockProperties.ZooKeeper.class)
class ZooKeeperLockConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(ZooKeeperLockConfiguration.class);

	@Bean
	ZooKeeperLockClient zooKeeperLockClient(LockProperties.ZooKeeper properties,
			ObjectProvider<CuratorFramework> applicationClient) {
		return new ZooKeeperLockClient(properties, applicationClient);
	}

	@Bean
	LockBackendCandidate zooKeeperLockBackend(ZooKeeperLockClient client) {
		return new LockBackendCandidate(LockBackendType.ZOOKEEPER, () -> new ZooKeeperLockBackend(client::get));
	}

	@Bean
	LockProbe zooKeeperLockProbe(ZooKeeperLockClient client, LockProperties.ZooKeeper zooKeeper,
			LockProperties properties) {
		return new LockProbe(new ZooKeeperLockBackend(client::get), zooKeeper.connectionTimeout(), properties,
				new ZooKeeperDiagnosis(client, zooKeeper));
	}

	/**
	 * Fails the start when no lock can be taken in ZooKeeper, and tells how long the
	 * locks of a JVM outlive it.
	 */
	@Bean
	StoreCheck zooKeeperLockServerCheck(@Qualifier("zooKeeperLockProbe") LockProbe probe, ZooKeeperLockClient client) {
		return () -> {
			probe.takeLock();
			logger.info(
					"Locks of this JVM are freed {} ms after it has died, which is its session time-out in ZooKeeper; "
							+ "'holdfast.lease-time' is not used",
					client.get().getZookeeperClient().getLastNegotiatedSessionTimeoutMs());
		};
	}

	static class OnClientCondition extends AnyNestedCondition {

		OnClientCondition() {
			super(ConfigurationPhase.REGISTER_BEAN);
		}

		@ConditionalOnProperty("holdfast.zookeeper.connect-string")
		static class OnConnectString {

		}

		@ConditionalOnBean(CuratorFramework.class)
		static class OnApplicationClient {

		}

	}

}
