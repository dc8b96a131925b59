package io.github.holdfast.interceptor;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockContext;
import io.github.holdfast.autoconfigure.LockedApplication;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import org.apache.ibatis.annotations.Select;
import org.apache.ibatis.session.SqlSessionFactory;
import org.junit.jupiter.api.Test;
import org.mybatis.spring.SqlSessionFactoryBean;
import org.mybatis.spring.mapper.MapperFactoryBean;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.FilterType;
import org.springframework.data.jpa.repository.config.EnableJpaRepositories;
import org.springframework.data.repository.CrudRepository;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;

import static org.assertj.core.api.Assertions.assertThat;

/** Locks of interfaces that others implement at run time have the interface's name. */
class InterfaceNameTests {

	private final ApplicationContextRunner application = LockedApplication.h2()
		.withPropertyValues("holdfast.backend=local")
		.withConfiguration(AutoConfigurations.of(HibernateJpaAutoConfiguration.class))
		.withPropertyValues("spring.jpa.hibernate.ddl-auto=create")
		.withUserConfiguration(Config.class);

	@Test
	void lockIsNamedByTheInterfaceThatDeclaresIt() {
		this.application.run((context) -> {
			LockedRepository repository = context.getBean(LockedRepository.class);
			assertThat(repository.name("A")).isEqualTo("InterfaceNameTests.LockedRepository.name");
			assertThat(repository.inherited("A")).isEqualTo("InterfaceNameTests.Locked.inherited");
			assertThat(context.getBean(LockedMapper.class).name("A")).isEqualTo("InterfaceNameTests.LockedMapper.name");
		});
	}

	@Test
	void overridesOfTheseNamesReachTheCalls() {
		this.application
			.withPropertyValues("holdfast.locks[InterfaceNameTests.LockedRepository.name].enabled=false",
					"holdfast.locks[InterfaceNameTests.LockedMapper.name].enabled=false",
					"holdfast.locks[InterfaceNameTests.Locked.inherited].enabled=false")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(context.getBean(LockedRepository.class).name("A")).isEqualTo("none");
				assertThat(context.getBean(LockedRepository.class).inherited("A")).isEqualTo("none");
				assertThat(context.getBean(LockedMapper.class).name("A")).isEqualTo("none");
			});
	}

	private static String currentName() {
		return LockContext.current().map(LockContext::name).orElse("none");
	}

	interface Locked {

		@DistributedLock(key = "'thing:' + #id")
		default String inherited(String id) {
			return currentName();
		}

	}

	interface LockedRepository extends CrudRepository<Thing, String>, Locked {

		@DistributedLock(key = "'thing:' + #id")
		default String name(String id) {
			return currentName();
		}

	}

	interface LockedMapper {

		@DistributedLock(key = "'thing:' + #id")
		default String name(String id) {
			return (one() == 1) ? currentName() : "";
		}

		@Select("SELECT 1")
		int one();

	}

	@Entity
	static class Thing {

		@Id
		private String id = "";

		String id() {
			return this.id;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableJpaRepositories(considerNestedRepositories = true,
			includeFilters = @org.springframework.context.annotation.ComponentScan.Filter(
					type = FilterType.ASSIGNABLE_TYPE, classes = LockedRepository.class))
	static class Config {

		@Bean
		PersistenceManagedTypes types() {
			return PersistenceManagedTypes.of(Thing.class.getName());
		}

		@Bean
		SqlSessionFactoryBean sqlSessionFactory(javax.sql.DataSource dataSource) {
			SqlSessionFactoryBean factory = new SqlSessionFactoryBean();
			factory.setDataSource(dataSource);
			return factory;
		}

		@Bean
		MapperFactoryBean<LockedMapper> lockedMapper(SqlSessionFactory factory) {
			MapperFactoryBean<LockedMapper> mapper = new MapperFactoryBean<>(LockedMapper.class);
			mapper.setSqlSessionFactory(factory);
			return mapper;
		}

	}

}
