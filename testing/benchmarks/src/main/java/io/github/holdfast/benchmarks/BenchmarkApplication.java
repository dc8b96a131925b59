package io.github.holdfast.benchmarks;

import java.util.List;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.annotation.EnableTransactionManagement;

/**
 * An application without what other libraries configure. A database and a transaction
 * manager are added where they are wanted.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration(excludeName = { "com.baomidou.lock.spring.boot.autoconfigure.LockAutoConfiguration",
		"com.baomidou.lock.spring.boot.autoconfigure.RedissonLockAutoConfiguration",
		"com.baomidou.lock.spring.boot.autoconfigure.RedisTemplateLockAutoConfiguration",
		"org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration" })
@EnableTransactionManagement(proxyTargetClass = true)
public class BenchmarkApplication {

	/**
	 * Start the application.
	 * @param beans beans, or configurations of some
	 * @param properties its properties
	 * @return the running application
	 */
	public static ConfigurableApplicationContext start(List<Class<?>> beans, List<String> properties) {
		return new SpringApplicationBuilder(BenchmarkApplication.class).sources(beans.toArray(Class<?>[]::new))
			.web(WebApplicationType.NONE)
			.properties("spring.main.banner-mode=off")
			.properties(properties.toArray(String[]::new))
			.run();
	}

}
