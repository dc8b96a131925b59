package io.github.holdfast.chaos;

import java.sql.SQLException;
import java.util.List;

import javax.sql.DataSource;

import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;

import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.transaction.TransactionExecutionListener;

/**
 * The transaction managers of a node: one for JDBC, another one that knows nothing of the
 * first, one for JPA, and one for tenants, all in one database.
 */
@Configuration(proxyBeanMethods = false)
class Managers {

	static final String OTHER = "otherManager";

	static final String JPA = "jpaManager";

	@Bean
	@Primary
	JdbcTransactionManager transactionManager(DataSource dataSource) {
		return new JdbcTransactionManager(dataSource);
	}

	@Bean(OTHER)
	JdbcTransactionManager otherManager(DataSource dataSource) {
		return new JdbcTransactionManager(new DelegatingDataSource(dataSource));
	}

	@Bean(JPA)
	JpaTransactionManager jpaManager(EntityManagerFactory factory) {
		return new JpaTransactionManager(factory);
	}

	@Bean
	Tenants tenants(DataSource dataSource) throws SQLException {
		return new Tenants(dataSource);
	}

	@Bean(Tenants.MANAGER)
	JdbcTransactionManager tenantManager(Tenants tenants) {
		return new JdbcTransactionManager(tenants.dataSource());
	}

	/**
	 * The application has listeners of its own, and knows of no others.
	 */
	@Bean
	ApplicationListener<ContextRefreshedEvent> ownListeners(JdbcTransactionManager transactionManager) {
		return (event) -> transactionManager
			.setTransactionExecutionListeners(List.of(new TransactionExecutionListener() {
			}));
	}

	@Bean
	static PersistenceManagedTypes managedTypes() {
		return PersistenceManagedTypes.of(Entities.StoredAccount.class.getName(), Entities.StoredSale.class.getName());
	}

	@Bean
	Entities entities(EntityManagerFactory factory, EntityManager entities) {
		return new Entities(factory, entities);
	}

}
