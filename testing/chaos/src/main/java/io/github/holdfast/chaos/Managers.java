package io.github.holdfast.chaos;

import java.util.List;

import javax.sql.DataSource;

import io.github.holdfast.autoconfigure.HoldfastAutoConfiguration;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * The application of a node, with a transaction manager for JDBC.
 */
@Configuration(proxyBeanMethods = false)
@ImportAutoConfiguration({ AopAutoConfiguration.class, DataSourceAutoConfiguration.class,
		TransactionAutoConfiguration.class, DataRedisAutoConfiguration.class, HoldfastAutoConfiguration.class })
class Managers {

	@Bean
	Accounts accounts(DataSource dataSource) {
		return new Accounts(new JdbcTemplate(dataSource));
	}

	@Bean
	EarlyReader earlyReader(Accounts accounts) {
		return new EarlyReader(accounts);
	}

	@Bean
	@Primary
	JdbcTransactionManager transactionManager(DataSource dataSource, EarlyReader earlyReader) {
		JdbcTransactionManager manager = new JdbcTransactionManager(dataSource);
		manager.setTransactionExecutionListeners(List.of(earlyReader));
		return manager;
	}

	@Bean
	Shop shop(Accounts accounts, ObjectProvider<Entities> entities, EarlyReader earlyReader,
			PlatformTransactionManager transactionManager) {
		return new Shop(accounts, entities, earlyReader, transactionManager);
	}

}
