package io.github.holdfast.benchmarks;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.annotation.EnableTransactionManagement;

/**
 * An application with transactions, and without what other libraries configure.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration(excludeName = { "com.baomidou.lock.spring.boot.autoconfigure.LockAutoConfiguration",
		"com.baomidou.lock.spring.boot.autoconfigure.RedissonLockAutoConfiguration",
		"com.baomidou.lock.spring.boot.autoconfigure.RedisTemplateLockAutoConfiguration" })
@EnableTransactionManagement(proxyTargetClass = true)
public class BenchmarkApplication {

	/**
	 * Start the application.
	 * @param beans a bean, or the configuration of some
	 * @param properties its properties
	 * @return the running application
	 */
	public static ConfigurableApplicationContext start(Class<?> beans, String... properties) {
		return new SpringApplicationBuilder(BenchmarkApplication.class, beans).web(WebApplicationType.NONE)
			.properties("spring.main.banner-mode=off")
			.properties(properties)
			.run();
	}

	@Bean
	StorelessTransactionManager transactionManager() {
		return new StorelessTransactionManager();
	}

}
