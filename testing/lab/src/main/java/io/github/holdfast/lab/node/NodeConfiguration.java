package io.github.holdfast.lab.node;

import java.time.Duration;
import java.util.List;

import javax.sql.DataSource;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.transaction.autoconfigure.TransactionManagerCustomizers;
import org.springframework.boot.web.server.context.WebServerPortFileWriter;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Profile;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.holdfast.lab.access.LabAccess;
import io.github.holdfast.lab.strategy.RedisServers;

/**
 * What a node has in addition to the service.
 */
@Configuration(proxyBeanMethods = false)
@Profile("lab-node")
class NodeConfiguration {

	/** A server that is down keeps nobody waiting. */
	private static final Duration COMMAND_TIME = Duration.ofMillis(500);

	private static final int CONNECTION_MS = 5_000;

	/**
	 * Tells the lab on which port this node is.
	 */
	@Bean
	@Lazy(false)
	static WebServerPortFileWriter portFile() {
		return new WebServerPortFileWriter();
	}

	/**
	 * Nodes are asked by the lab only, and by no page.
	 */
	@Bean
	FilterRegistrationBean<LabAccess> nodeAccess() {
		return new FilterRegistrationBean<>(new LabAccess(false));
	}

	/**
	 * With what Boot would do to its own one.
	 */
	@Bean
	NodeTransactionManager transactionManager(DataSource dataSource,
			ObjectProvider<TransactionManagerCustomizers> customizers) {
		NodeTransactionManager manager = new NodeTransactionManager(dataSource);
		customizers.ifAvailable((each) -> each.customize(manager));
		return manager;
	}

	@Bean(destroyMethod = "shutdown")
	RedissonClient redissonClient(@Value("${spring.data.redis.port}") int port,
			@Value("${lab.lease-time}") Duration leaseTime) {
		Config config = new Config();
		config.setLockWatchdogTimeout(leaseTime.toMillis());
		config.useSingleServer().setAddress("redis://127.0.0.1:" + port);
		return Redisson.create(config);
	}

	@Bean
	RedisServers redisServers(@Value("${lab.redis-ports}") List<Integer> ports) {
		return new RedisServers(ports.stream().map(NodeConfiguration::template).toList());
	}

	private static StringRedisTemplate template(int port) {
		LettuceConnectionFactory connections = new LettuceConnectionFactory(
				new RedisStandaloneConfiguration("127.0.0.1", port),
				LettuceClientConfiguration.builder().commandTimeout(COMMAND_TIME).build());
		connections.afterPropertiesSet();
		connections.start();
		return new StringRedisTemplate(connections);
	}

	/**
	 * Its session is as long as the other strategies' leases.
	 */
	@Bean(initMethod = "start")
	CuratorFramework curatorFramework(@Value("${lab.zookeeper}") String servers,
			@Value("${lab.lease-time}") Duration leaseTime) {
		return CuratorFrameworkFactory.newClient(servers, (int) leaseTime.toMillis(), CONNECTION_MS,
				new ExponentialBackoffRetry(100, 3));
	}

}
