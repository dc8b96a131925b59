package io.github.holdfast.lab.node;

import java.time.Duration;

import javax.sql.DataSource;

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

import io.github.holdfast.lab.access.LabAccess;

/**
 * What a node has in addition to the service.
 */
@Configuration(proxyBeanMethods = false)
@Profile("lab-node")
class NodeConfiguration {

	/** Tells the lab on which port this node is. */
	@Bean
	@Lazy(false)
	static WebServerPortFileWriter portFile() {
		return new WebServerPortFileWriter();
	}

	/** Nodes are asked by the lab only, and by no page. */
	@Bean
	FilterRegistrationBean<LabAccess> nodeAccess() {
		return new FilterRegistrationBean<>(new LabAccess(false));
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
		config.useSingleServer().setAddress("redis://127.0.0.1:" + port);
		return Redisson.create(config);
	}

}
