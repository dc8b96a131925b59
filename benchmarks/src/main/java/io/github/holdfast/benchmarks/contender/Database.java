package io.github.holdfast.benchmarks.contender;

import com.zaxxer.hikari.HikariDataSource;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * The pool of an application that has a database.
 */
@Configuration(proxyBeanMethods = false)
class Database {

	@Bean
	@ConfigurationProperties("spring.datasource.hikari")
	HikariDataSource dataSource() {
		return new HikariDataSource();
	}

}
