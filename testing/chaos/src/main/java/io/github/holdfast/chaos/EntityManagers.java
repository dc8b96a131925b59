package io.github.holdfast.chaos;

import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;

/**
 * A transaction manager for JPA, which takes longer to start than all others.
 */
@Configuration(proxyBeanMethods = false)
@ImportAutoConfiguration(HibernateJpaAutoConfiguration.class)
class EntityManagers {

	static final String JPA = "jpaManager";

	@Bean(JPA)
	JpaTransactionManager jpaManager(EntityManagerFactory factory) {
		return new JpaTransactionManager(factory);
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
