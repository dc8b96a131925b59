package io.github.holdfast.testsupport;

import java.time.Duration;

import io.etcd.jetcd.Client;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.redisson.spring.starter.RedissonAutoConfigurationCustomizer;
import org.redisson.spring.starter.RedissonAutoConfigurationV4;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionManagerCustomizationAutoConfiguration;

import io.github.holdfast.autoconfigure.HoldfastAutoConfiguration;
import io.github.holdfast.store.etcd.EtcdLockBackend;

/** Spring Boot applications with locks, as small as they can be. */
public final class LockedApplication {

	private LockedApplication() {
	}

	public static ApplicationContextRunner local() {
		return used()
			.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, HoldfastAutoConfiguration.class))
			.withPropertyValues("holdfast.backend=local");
	}

	public static ApplicationContextRunner jdbc(DatabaseAccess database) {
		return used()
			.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, DataSourceAutoConfiguration.class,
					JdbcTemplateAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
					TransactionManagerCustomizationAutoConfiguration.class, TransactionAutoConfiguration.class,
					HoldfastAutoConfiguration.class))
			.withPropertyValues("spring.datasource.url=" + database.url(),
					"spring.datasource.username=" + database.user(),
					"spring.datasource.password=" + database.password(),
					// A connection that nobody needs costs as much as one that is used
					"spring.datasource.hikari.minimum-idle=1", "holdfast.jdbc.initialize-schema=always");
	}

	public static ApplicationContextRunner redis(int port) {
		return used()
			.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, DataRedisAutoConfiguration.class,
					HoldfastAutoConfiguration.class))
			.withPropertyValues("spring.data.redis.host=127.0.0.1", "spring.data.redis.port=" + port);
	}

	/** With Redisson's starter, which brings connections for Spring Data Redis, too. */
	public static ApplicationContextRunner redisson(int port) {
		return withRedisson(redis(port));
	}

	public static ApplicationContextRunner zooKeeper(DatabaseAccess database, String addresses) {
		return zooKeeper(database, addresses, Duration.ofSeconds(60));
	}

	public static ApplicationContextRunner zooKeeper(DatabaseAccess database, String addresses,
			Duration sessionTimeout) {
		return jdbc(database).withPropertyValues("holdfast.backend=zookeeper")
			.withBean(CuratorFramework.class, () -> curator(addresses, sessionTimeout),
					(definition) -> definition.setDestroyMethodName("close"));
	}

	private static CuratorFramework curator(String addresses, Duration sessionTimeout) {
		CuratorFramework client = CuratorFrameworkFactory.builder()
			.connectString(addresses)
			.sessionTimeoutMs((int) sessionTimeout.toMillis())
			.connectionTimeoutMs(10_000)
			.retryPolicy(new ExponentialBackoffRetry(100, 3))
			.build();
		client.start();
		return client;
	}

	public static ApplicationContextRunner etcd(DatabaseAccess database, String endpoint) {
		return jdbc(database).withPropertyValues("holdfast.backend=etcd")
			.withBean(Client.class, () -> EtcdLockBackend.clientBuilder().endpoints(endpoint).build(),
					(definition) -> definition.setDestroyMethodName("close"));
	}

	/** Without a bean that has a LockTemplate, no store would be looked at. */
	private static ApplicationContextRunner used() {
		return new ApplicationContextRunner().withInitializer(
				(context) -> context.getBeanFactory().registerDependentBean("holdfastLockTemplate", "templateUser"));
	}

	static ApplicationContextRunner withRedisson(ApplicationContextRunner application) {
		return application.withConfiguration(AutoConfigurations.of(RedissonAutoConfigurationV4.class))
			.withBean(RedissonAutoConfigurationCustomizer.class,
					() -> (configuration) -> configuration.setThreads(2).setNettyThreads(4));
	}

}
