package io.github.holdfast.benchmarks.contender;

import com.zaxxer.hikari.HikariDataSource;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.jdbc.autoconfigure.DataSourcePoolMetadataProvidersConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * The pool of an application that has a database. It tells its size, as that of Spring
 * Boot does.
 */
@Configuration(proxyBeanMethods = false)
@Import(DataSourcePoolMetadataProvidersConfiguration.class)
class Database {

	@Bean
	@ConfigurationProperties("spring.datasource.hikari")
	HikariDataSource dataSource() {
		return new HikariDataSource();
	}

}
