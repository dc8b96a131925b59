package io.github.holdfast.interceptor;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import javax.sql.DataSource;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.autoconfigure.LockedApplication;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import org.apache.ibatis.annotations.Select;
import org.apache.ibatis.session.SqlSessionFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mybatis.spring.SqlSessionFactoryBean;
import org.mybatis.spring.mapper.MapperFactoryBean;

import org.springframework.aop.support.AopUtils;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ComponentScan;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.FilterType;
import org.springframework.data.jpa.repository.config.EnableJpaRepositories;
import org.springframework.data.repository.CrudRepository;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Locked methods of interfaces: generic ones, where a bridge method stands for the
 * method, and those that a lambda or a framework implements.
 */
class LockedInterfaceTests {

	private final ApplicationContextRunner frameworks = LockedApplication.h2()
		.withPropertyValues("holdfast.backend=local", "spring.jpa.hibernate.ddl-auto=create")
		.withConfiguration(AutoConfigurations.of(HibernateJpaAutoConfiguration.class))
		.withUserConfiguration(Frameworks.class);

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	@SuppressWarnings("unchecked")
	void methodAndFallbackOfAGenericInterfaceAreCalledThroughTheProxy(boolean classProxy) {
		LockedApplication.local()
			.withPropertyValues("spring.aop.proxy-target-class=" + classProxy, "holdfast.wait-time=0s")
			.withBean(InvoiceHandler.class)
			.run((context) -> {
				Handler<Invoice> handler = context.getBean(Handler.class);
				assertThat(AopUtils.isCglibProxy(handler)).isEqualTo(classProxy);
				assertThat(handler.handle(new Invoice("1"))).containsExactly("doc:1");
				assertThat(context.getBean(LockOperationSource.class).getAll(handler))
					.extracting((operation) -> LockOperationSource.callable(operation.method(), handler))
					.hasSize(2)
					.doesNotContainNull();
				LockTemplate locks = context.getBean(LockTemplate.class);
				LockTemplate.Scope holder = CompletableFuture.supplyAsync(() -> locks.acquire("doc:1")).join();
				assertThat(handler.handle(new Invoice("1"))).containsExactly("later:1");
				holder.close();
			});
	}

	interface Handler<T> {

		List<String> handle(T t);

		default List<String> later(T t) {
			return List.of();
		}

	}

	record Invoice(String id) {

	}

	static class InvoiceHandler implements Handler<Invoice> {

		@Override
		@DistributedLock(key = "'doc:' + #invoice.id()", fallbackMethod = "later")
		public List<String> handle(Invoice invoice) {
			return LockedApplication.heldKeys();
		}

		@Override
		@DistributedLock("'later:' + #invoice.id()")
		public List<String> later(Invoice invoice) {
			return LockedApplication.heldKeys();
		}

	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	@SuppressWarnings("unchecked")
	void annotationOfAGenericInterfaceCounts(boolean classProxy) {
		LockedHandler<Invoice> lambda = (invoice) -> LockedApplication.heldKeys();
		LockedHandler<Invoice> methodReference = LockedInterfaceTests::heldKeys;
		LockedApplication.local()
			.withPropertyValues("spring.aop.proxy-target-class=" + classProxy)
			.withBean("handler", AnnotatedHandler.class)
			.withBean("lambda", LockedHandler.class, () -> lambda)
			.withBean("methodReference", LockedHandler.class, () -> methodReference)
			.run((context) -> assertThat(context.getBeansOfType(LockedHandler.class)).hasSize(3)
				.allSatisfy((name, handler) -> {
					assertThat(handler.handle(new Invoice("1"))).containsExactly("doc:1");
					assertThat(handler.handle(new Invoice("free"))).isEqualTo(List.of());
				}));
	}

	interface LockedHandler<T extends Invoice> extends Handler<T> {

		@Override
		@DistributedLock(key = "'doc:' + #document.id()", condition = "#document.id() != 'free'")
		List<String> handle(T document);

	}

	static class AnnotatedHandler implements LockedHandler<Invoice> {

		@Override
		public List<String> handle(Invoice document) {
			return LockedApplication.heldKeys();
		}

	}

	@Test
	void lockIsNamedByTheInterfaceThatDeclaresIt() {
		this.frameworks.run((context) -> {
			LockedRepository repository = context.getBean(LockedRepository.class);
			assertThat(repository.name("A")).isEqualTo("LockedInterfaceTests.LockedRepository.name");
			assertThat(repository.inherited("A")).isEqualTo("LockedInterfaceTests.Locked.inherited");
			assertThat(context.getBean(LockedMapper.class).name("A"))
				.isEqualTo("LockedInterfaceTests.LockedMapper.name");
		});
	}

	@Test
	void overridesOfTheseNamesReachTheCalls() {
		this.frameworks
			.withPropertyValues("holdfast.locks[LockedInterfaceTests.LockedRepository.name].enabled=false",
					"holdfast.locks[LockedInterfaceTests.LockedMapper.name].enabled=false",
					"holdfast.locks[LockedInterfaceTests.Locked.inherited].enabled=false")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(context.getBean(LockedRepository.class).name("A")).isEqualTo("none");
				assertThat(context.getBean(LockedRepository.class).inherited("A")).isEqualTo("none");
				assertThat(context.getBean(LockedMapper.class).name("A")).isEqualTo("none");
			});
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
			includeFilters = @ComponentScan.Filter(type = FilterType.ASSIGNABLE_TYPE, classes = LockedRepository.class))
	static class Frameworks {

		@Bean
		PersistenceManagedTypes types() {
			return PersistenceManagedTypes.of(Thing.class.getName());
		}

		@Bean
		SqlSessionFactoryBean sqlSessionFactory(DataSource dataSource) {
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

	private static List<String> heldKeys(Object argument) {
		return LockedApplication.heldKeys();
	}

	private static String currentName() {
		return LockContext.current().map(LockContext::name).orElse("none");
	}

}
