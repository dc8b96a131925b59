package io.github.holdfast.autoconfigure;

import java.util.UUID;

import javax.sql.DataSource;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockLostException;
import io.github.holdfast.LockTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Which of several DataSources has the lock table. */
class HoldfastDataSourceTests {

	private static final String MARKED = "jdbc:h2:mem:marked;DB_CLOSE_DELAY=-1";

	private static final String OTHER = "jdbc:h2:mem:not-marked;DB_CLOSE_DELAY=-1";

	private final ApplicationContextRunner application = LockedApplication.h2()
		.withPropertyValues("spring.datasource.url=" + OTHER);

	/** It comes before the primary one, and needs not be a candidate for injection. */
	@ParameterizedTest
	@ValueSource(classes = { MarkedAndPrimary.class, MarkedBesideThatOfBoot.class })
	void markedOneHasTheTable(Class<?> dataSources) {
		this.application.withUserConfiguration(dataSources, MarkedManager.class).run((context) -> {
			assertThat(context).hasNotFailed();
			JdbcTemplate marked = new JdbcTemplate(dataSource(MARKED));
			marked.execute("CREATE TABLE IF NOT EXISTS work (id integer)");
			marked.update("DELETE FROM holdfast_lock");
			TransactionTemplate transaction = new TransactionTemplate(context.getBean(JdbcTransactionManager.class));
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> context.getBean(LockTemplate.class).run(UUID.randomUUID().toString(), () -> {
					assertThat(marked.update("UPDATE holdfast_lock SET owner = owner + 1 WHERE owner IS NOT NULL"))
						.isPositive();
					transaction.executeWithoutResult((status) -> {
					});
				}));
			assertThat(new JdbcTemplate(dataSource(OTHER))
				.queryForList("SELECT table_name FROM information_schema.tables WHERE table_name = 'HOLDFAST_LOCK'"))
				.as("lock tables in the other database")
				.isEmpty();
		});
	}

	private static DataSource dataSource(String url) {
		return new DriverManagerDataSource(url);
	}

	@Configuration(proxyBeanMethods = false)
	static class MarkedAndPrimary {

		@Bean
		@HoldfastDataSource
		DataSource marked() {
			return dataSource(MARKED);
		}

		@Bean
		@Primary
		DataSource other() {
			return dataSource(OTHER);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class MarkedBesideThatOfBoot {

		@Bean(defaultCandidate = false)
		@HoldfastDataSource
		DataSource marked() {
			return dataSource(MARKED);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class MarkedManager {

		@Bean
		JdbcTransactionManager transactionManager(@HoldfastDataSource DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

	}

}
