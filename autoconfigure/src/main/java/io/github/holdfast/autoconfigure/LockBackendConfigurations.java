package io.github.holdfast.autoconfigure;

import java.util.List;

import io.etcd.jetcd.Client;
import io.github.holdfast.store.etcd.EtcdLockBackend;
import io.github.holdfast.store.local.LocalLockBackend;
import io.github.holdfast.store.redis.RedisLockBackend;
import io.github.holdfast.store.redis.RedisQuorumLockBackend;
import io.github.holdfast.store.zookeeper.ZooKeeperLockBackend;
import org.apache.curator.framework.CuratorFramework;
import org.redisson.api.RedissonClient;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * The stores outside the application's database.
 */
@Configuration(proxyBeanMethods = false)
class LockBackendConfigurations {

	private static final String BACKEND = "holdfast.backend";

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnProperty(name = BACKEND, havingValue = "local")
	static class LocalConfiguration {

		@Bean
		Candidate localLockBackend() {
			return new Candidate(LockBackendType.LOCAL, LocalLockBackend::new);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(RedisConnectionFactory.class)
	@ConditionalOnBean(RedisConnectionFactory.class)
	@ConditionalOnProperty(name = BACKEND, havingValue = "redis", matchIfMissing = true)
	static class RedisConfiguration {

		@Bean
		Candidate redisLockBackend(ObjectProvider<RedisConnectionFactory> factory, HoldfastProperties properties) {
			List<String> nodes = properties.redis().quorum().nodes();
			// An empty list is a mistake, which must not make the locks weaker
			return new Candidate(LockBackendType.REDIS, () -> (nodes == null) ? new RedisLockBackend(factory::getObject)
					: new RedisQuorumLockBackend(factory.getObject(), nodes));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(RedissonClient.class)
	@ConditionalOnBean(RedissonClient.class)
	@ConditionalOnProperty(name = BACKEND, havingValue = "redisson", matchIfMissing = true)
	static class RedissonConfiguration {

		@Bean
		Candidate redissonLockBackend(ObjectProvider<RedissonClient> client) {
			return new Candidate(LockBackendType.REDISSON, () -> RedisLockBackend.redisson(client::getObject));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(Client.class)
	@ConditionalOnBean(Client.class)
	@ConditionalOnProperty(name = BACKEND, havingValue = "etcd", matchIfMissing = true)
	static class EtcdConfiguration {

		@Bean
		Candidate etcdLockBackend(ObjectProvider<Client> client) {
			return new Candidate(LockBackendType.ETCD, () -> new EtcdLockBackend(client::getObject));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(CuratorFramework.class)
	@ConditionalOnBean(CuratorFramework.class)
	@ConditionalOnProperty(name = BACKEND, havingValue = "zookeeper", matchIfMissing = true)
	static class ZooKeeperConfiguration {

		@Bean
		Candidate zooKeeperLockBackend(ObjectProvider<CuratorFramework> client) {
			return new Candidate(LockBackendType.ZOOKEEPER, () -> new ZooKeeperLockBackend(client::getObject));
		}

	}

}
