package io.github.holdfast.autoconfigure;

import java.util.UUID;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionManagerCustomizationAutoConfiguration;

/**
 * Spring Boot applications with locks, as small as they can be.
 */
public final class LockedApplication {

	private LockedApplication() {
	}

	/**
	 * An application that has nothing but the starter.
	 * @return the application
	 */
	public static ApplicationContextRunner empty() {
		return new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, HoldfastAutoConfiguration.class));
	}

	/**
	 * An application without a database.
	 * @return the application, with the backend {@code local}
	 */
	public static ApplicationContextRunner local() {
		return empty().withPropertyValues("holdfast.backend=local");
	}

	/**
	 * An application with H2 in memory and a transaction manager.
	 * @return the application, with the backend {@code jdbc}
	 */
	public static ApplicationContextRunner h2() {
		return empty()
			.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class,
					JdbcTemplateAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
					TransactionManagerCustomizationAutoConfiguration.class, TransactionAutoConfiguration.class))
			.withPropertyValues("spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID(),
					"spring.datasource.hikari.minimum-idle=1");
	}

}
