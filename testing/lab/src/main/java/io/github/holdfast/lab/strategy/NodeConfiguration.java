package io.github.holdfast.lab.strategy;

import java.time.Duration;

import javax.sql.DataSource;

import io.lettuce.core.resource.Delay;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.config.ConstantDelay;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.data.redis.autoconfigure.ClientResourcesBuilderCustomizer;
import org.springframework.boot.transaction.autoconfigure.TransactionManagerCustomizers;
import org.springframework.boot.web.server.context.WebServerPortFileWriter;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Profile;

import io.github.holdfast.lab.LabAccess;

/**
 * What a node has in addition to the service.
 */
@Configuration(proxyBeanMethods = false)
@Profile("lab-node")
class NodeConfiguration {

	/**
	 * After its first failures a client would wait for seconds, in which those who hold
	 * lost locks finish unharmed.
	 */
	private static final Duration RECONNECT_DELAY = Duration.ofMillis(20);

	/** Tells the lab on which port this node is. */
	@Bean
	@Lazy(false)
	static WebServerPortFileWriter portFile() {
		return new WebServerPortFileWriter();
	}

	/** Nodes are asked by the lab only, and by no page. */
	@Bean
	LabAccess nodeAccess() {
		return new LabAccess(false);
	}

	/** With what Boot would do to its own one. */
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
		config.useSingleServer()
			.setAddress("redis://127.0.0.1:" + port)
			.setRetryDelay(new ConstantDelay(RECONNECT_DELAY))
			.setReconnectionDelay(new ConstantDelay(RECONNECT_DELAY));
		return Redisson.create(config);
	}

	@Bean
	ClientResourcesBuilderCustomizer reconnectSoon() {
		return (resources) -> resources.reconnectDelay(Delay.constant(RECONNECT_DELAY));
	}

}
