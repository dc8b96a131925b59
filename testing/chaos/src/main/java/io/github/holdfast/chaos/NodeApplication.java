package io.github.holdfast.chaos;

import java.util.List;

import javax.sql.DataSource;

import io.github.holdfast.autoconfigure.HoldfastAutoConfiguration;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;

@Configuration(proxyBeanMethods = false)
@ImportAutoConfiguration({ AopAutoConfiguration.class, DataSourceAutoConfiguration.class,
		TransactionAutoConfiguration.class, DataRedisAutoConfiguration.class, HoldfastAutoConfiguration.class })
@Import(Shop.class)
class NodeApplication {

	static final String JPA = "jpaManager";

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

	/** A transaction manager for JPA, which takes longer to start than all others. */
	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(HibernateJpaAutoConfiguration.class)
	static class WithEntities {

		@Bean(JPA)
		JpaTransactionManager jpaManager(EntityManagerFactory factory) {
			return new JpaTransactionManager(factory);
		}

		@Bean
		static PersistenceManagedTypes managedTypes() {
			return PersistenceManagedTypes.of(Entities.StoredAccount.class.getName(),
					Entities.StoredSale.class.getName());
		}

		@Bean
		Entities entities(EntityManagerFactory factory, EntityManager entities) {
			return new Entities(factory, entities);
		}

	}

}
