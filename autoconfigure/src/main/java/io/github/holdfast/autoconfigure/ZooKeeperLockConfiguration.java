package io.github.holdfast.autoconfigure;

import org.apache.curator.framework.CuratorFramework;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;

import io.github.holdfast.zookeeper.ZooKeeperLockBackend;

/**
 * Locks in ZooKeeper.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(CuratorFramework.class)
@Conditional({ LockBackendCondition.class, ZooKeeperLockConfiguration.OnClientCondition.class })
@EnableConfigurationProperties(LockProperties.ZooKeeper.class)
class ZooKeeperLockConfiguration {

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
	ZooKeeperLockServerCheck zooKeeperLockServerCheck(ZooKeeperLockClient client,
			LockProperties.ZooKeeper zooKeeperProperties, LockProperties properties) {
		return new ZooKeeperLockServerCheck(client, zooKeeperProperties, properties);
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
