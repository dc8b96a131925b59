package io.github.holdfast.sample.wms;

import org.apache.curator.framework.CuratorFramework;
import org.junit.jupiter.api.Tag;

import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.ActiveProfiles;

import io.github.holdfast.testsupport.ZooKeeperServer;

/**
 * The warehouse service with its locks in ZooKeeper.
 */
@ActiveProfiles("zookeeper")
@DirtiesContext
@Tag("long")
class ZooKeeperWarehouseTests extends AbstractWarehouseTests {

	/**
	 * A ZooKeeper that starts and ends with the service.
	 */
	@TestConfiguration(proxyBeanMethods = false)
	static class WithZooKeeper {

		@Bean
		ZooKeeperServer zooKeeper() {
			return ZooKeeperServer.start();
		}

		@Bean
		CuratorFramework curatorFramework(ZooKeeperServer zooKeeper) {
			return zooKeeper.client();
		}

	}

}
