package io.github.holdfast.autoconfigure;

import java.util.List;
import java.util.UUID;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionManagerCustomizationAutoConfiguration;

import io.github.holdfast.LockConfigurationException;
import io.github.holdfast.LockContext;

import static org.assertj.core.api.Assertions.assertThat;

/** Spring Boot applications with locks, as small as they can be. */
public final class LockedApplication {

	private LockedApplication() {
	}

	public static ApplicationContextRunner empty() {
		return new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, HoldfastAutoConfiguration.class));
	}

	public static ApplicationContextRunner local() {
		return empty().withPropertyValues("holdfast.backend=local");
	}

	public static ApplicationContextRunner h2() {
		return empty()
			.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class,
					JdbcTemplateAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
					TransactionManagerCustomizationAutoConfiguration.class, TransactionAutoConfiguration.class))
			.withPropertyValues("spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID(),
					"spring.datasource.hikari.minimum-idle=1");
	}

	/** The keys of the innermost lock of this thread. */
	public static List<String> heldKeys() {
		return LockContext.current().map(LockContext::keys).orElse(List.of());
	}

	public static void assertRefused(ApplicationContextRunner application, String... text) {
		application.run((context) -> {
			assertThat(context).hasFailed();
			assertRefused(context.getStartupFailure(), text);
		});
	}

	public static void assertRefused(Throwable failure, String... text) {
		Throwable cause = failure;
		while (!(cause instanceof LockConfigurationException) && cause.getCause() != null) {
			cause = cause.getCause();
		}
		assertThat(cause).isInstanceOf(LockConfigurationException.class);
		LockConfigurationException refusal = (LockConfigurationException) cause;
		assertThat(refusal.description() + " " + refusal.action()).contains(text);
		assertThat(refusal.description()).endsWith(".");
		assertThat(refusal.action()).endsWith(".");
	}

}
