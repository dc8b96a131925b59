package io.github.holdfast.benchmarks;

import java.util.ArrayList;
import java.util.List;

import com.zaxxer.hikari.HikariDataSource;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.jdbc.autoconfigure.DataSourcePoolMetadataProvidersConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.transaction.annotation.EnableTransactionManagement;

/** An application without what other libraries configure. */
final class BenchmarkApplication {

	private static final String HOLDFAST = "io.github.holdfast.autoconfigure.HoldfastAutoConfiguration";

	private BenchmarkApplication() {
	}

	static ConfigurableApplicationContext start(boolean holdfast, List<Class<?>> beans, List<String> properties) {
		List<String> all = new ArrayList<>(properties);
		all.add("spring.main.banner-mode=off");
		all.add("spring.autoconfigure.exclude=" + (holdfast ? "" : HOLDFAST));
		return new SpringApplicationBuilder(Application.class).sources(beans.toArray(Class<?>[]::new))
			.web(WebApplicationType.NONE)
			.properties(all.toArray(String[]::new))
			.run();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(excludeName = { "com.baomidou.lock.spring.boot.autoconfigure.LockAutoConfiguration",
			"com.baomidou.lock.spring.boot.autoconfigure.RedissonLockAutoConfiguration",
			"com.baomidou.lock.spring.boot.autoconfigure.RedisTemplateLockAutoConfiguration",
			"org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration" })
	@EnableTransactionManagement(proxyTargetClass = true)
	static class Application {

	}

	/** A pool that tells its size, as that of Spring Boot does. */
	@Configuration(proxyBeanMethods = false)
	@Import(DataSourcePoolMetadataProvidersConfiguration.class)
	static class Database {

		@Bean
		@ConfigurationProperties("spring.datasource.hikari")
		HikariDataSource dataSource() {
			return new HikariDataSource();
		}

	}

}
