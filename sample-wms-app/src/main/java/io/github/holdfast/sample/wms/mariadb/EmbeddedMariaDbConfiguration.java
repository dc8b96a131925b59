package io.github.holdfast.sample.wms.mariadb;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;

/**
 * Starts MariaDB with the application and points the {@code DataSource} at it, in the
 * profile {@code embedded-mariadb}.
 */
@Configuration(proxyBeanMethods = false)
@Profile("embedded-mariadb")
class EmbeddedMariaDbConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(EmbeddedMariaDbConfiguration.class);

	@Bean
	EmbeddedMariaDb embeddedMariaDb() {
		EmbeddedMariaDb server = EmbeddedMariaDb.start();
		logger.info("Further nodes join with --spring.profiles.active=mariadb '--spring.datasource.url={}' "
				+ "--server.port=0", server.jdbcUrl());
		return server;
	}

	@Bean
	JdbcConnectionDetails embeddedMariaDbConnectionDetails(EmbeddedMariaDb server) {
		return new ConnectionDetails(server.jdbcUrl());
	}

	private record ConnectionDetails(String getJdbcUrl) implements JdbcConnectionDetails {

		@Override
		public String getUsername() {
			return "root";
		}

		@Override
		public String getPassword() {
			return "";
		}

	}

}
