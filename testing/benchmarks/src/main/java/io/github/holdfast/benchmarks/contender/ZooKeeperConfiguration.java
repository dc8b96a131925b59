package io.github.holdfast.benchmarks.contender;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * The client of an application that keeps its locks in ZooKeeper.
 */
@Configuration(proxyBeanMethods = false)
class ZooKeeperConfiguration {

	@Bean(initMethod = "start", destroyMethod = "close")
	CuratorFramework curator(@Value("${benchmark.zookeeper}") String servers) {
		return CuratorFrameworkFactory.newClient(servers, new ExponentialBackoffRetry(100, 3));
	}

}
