package io.github.holdfast.autoconfigure;

import java.time.Duration;

import io.etcd.jetcd.Client;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.OnPropertyListCondition;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;

import io.github.holdfast.store.etcd.EtcdLockBackend;

/**
 * Locks in etcd.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(Client.class)
@Conditional({ LockBackendCondition.class, EtcdLockConfiguration.OnClientCondition.class })
@EnableConfigurationProperties(LockProperties.Etcd.class)
class EtcdLockConfiguration {

	/**
	 * A cluster that elects its leader must not fail the start, nor a machine that is
	 * busy while the client is loaded.
	 */
	private static final Duration PATIENCE = Duration.ofSeconds(10);

	@Bean
	EtcdLockClient etcdLockClient(LockProperties.Etcd properties, ObjectProvider<SslBundles> bundles,
			ObjectProvider<Client> client) {
		return new EtcdLockClient(properties, bundles, client);
	}

	@Bean
	LockBackendCandidate etcdLockBackend(EtcdLockClient client, LockProperties.Etcd properties) {
		return new LockBackendCandidate(LockBackendType.ETCD,
				() -> new EtcdLockBackend(client, properties.namespace()));
	}

	@Bean
	LockProbe etcdLockProbe(EtcdLockClient client, LockProperties.Etcd etcd, LockProperties properties) {
		return new LockProbe(new EtcdLockBackend(client, etcd.namespace()), PATIENCE, properties, new EtcdDiagnosis());
	}

	/**
	 * Fails the start when no lock can be taken in etcd.
	 */
	@Bean
	StoreCheck etcdLockServerCheck(@Qualifier("etcdLockProbe") LockProbe probe) {
		return probe::takeLock;
	}

	static class OnClientCondition extends AnyNestedCondition {

		OnClientCondition() {
			super(ConfigurationPhase.REGISTER_BEAN);
		}

		@Conditional(OnEndpointsCondition.class)
		static class OnEndpoints {

		}

		@ConditionalOnBean(Client.class)
		static class OnClientBean {

		}

	}

	static class OnEndpointsCondition extends OnPropertyListCondition {

		OnEndpointsCondition() {
			super("holdfast.etcd.endpoints", () -> ConditionMessage.forCondition("etcd endpoints"));
		}

	}

}
