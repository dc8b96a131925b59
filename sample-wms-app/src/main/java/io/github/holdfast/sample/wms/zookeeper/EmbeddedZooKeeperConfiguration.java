package io.github.holdfast.sample.wms.zookeeper;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;

/**
 * Starts ZooKeeper with the application and gives it a client, in the profile
 * {@code embedded-zookeeper}.
 */
@Configuration(proxyBeanMethods = false)
@Profile("embedded-zookeeper")
class EmbeddedZooKeeperConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(EmbeddedZooKeeperConfiguration.class);

	@Bean
	EmbeddedZooKeeper embeddedZooKeeper() {
		EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
		logger.info(
				"Further nodes join with --holdfast.zookeeper.connect-string=127.0.0.1:{} and the profile zookeeper",
				server.port());
		return server;
	}

	@Bean(initMethod = "start")
	CuratorFramework curatorFramework(EmbeddedZooKeeper server) {
		return CuratorFrameworkFactory.newClient("127.0.0.1:" + server.port(), new ExponentialBackoffRetry(100, 3));
	}

}
