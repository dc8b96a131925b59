package io.github.holdfast.autoconfigure;

import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.sql.DriverManager;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import org.springframework.aot.AotDetector;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcClientAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.test.tools.CompileWithForkedClassLoader;
import org.springframework.core.test.tools.TestCompiler;
import org.springframework.javapoet.ClassName;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockConfigurationException;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.actuate.LocksEndpoint;
import io.github.holdfast.actuate.LocksEndpoint.CallDescriptor;
import io.github.holdfast.actuate.LocksEndpoint.ForceReleaseDescriptor;
import io.github.holdfast.actuate.LocksEndpoint.LockDescriptor;
import io.github.holdfast.actuate.LocksEndpoint.LocksDescriptor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/** Code that is generated ahead of time makes the same locks, with their hints. */
class AheadOfTimeTests {

	private final TestGenerationContext generation = new TestGenerationContext();

	/**
	 * Otherwise the class loader of the compiled code finds the drivers, for this JVM.
	 */
	@BeforeAll
	static void findDrivers() {
		DriverManager.getDrivers();
	}

	@AfterEach
	void forget() {
		System.clearProperty(AotDetector.AOT_ENABLED);
	}

	@Test
	@CompileWithForkedClassLoader
	void generatedCodeLocksMethods() {
		run(Application.class, List.of("holdfast.backend=local"), List.of("holdfast.backend=local"), (context) -> {
			Orders orders = context.getBean(Orders.class);
			assertThat(orders.held(new Order(new Customer("7"), 1))).containsExactly("order:7");
			try (LockTemplate.Scope scope = context.getBean(LockTemplate.class).acquire("quote:7")) {
				assertThat(scope).isNotNull();
				assertThat(CompletableFuture.supplyAsync(() -> orders.quote("7")).join()).isEqualTo("the last one");
			}
		});
	}

	@Test
	@CompileWithForkedClassLoader
	void generatedCodeKeepsLocksAndFenceInTheDatabase() {
		List<String> properties = List.of("spring.datasource.url=jdbc:h2:mem:aot;DB_CLOSE_DELAY=-1",
				"holdfast.commit-guard=fence");
		run(DatabaseApplication.class, properties, properties, (context) -> {
			assertThat(context.getBean(Orders.class).transactional("7")).isTrue();
			assertThat(context.getBean(JdbcClient.class)
				.sql("SELECT COUNT(*) FROM holdfast_lock WHERE lock_key = STRINGTOUTF8('holdfast:order:7')")
				.query(Integer.class)
				.single()).isEqualTo(1);
		});
	}

	@Test
	@CompileWithForkedClassLoader
	void startWithAnotherBackendThanAtTheBuildIsRefused() {
		refused(List.of("holdfast.backend=local"), List.of("holdfast.backend=redis"),
				"The lock backend 'redis' is not available.");
	}

	@Test
	void nativeImageContainsWhatAKeyReadsAndTheFallback() throws Exception {
		process(Application.class, List.of("holdfast.backend=local"));
		RuntimeHints hints = this.generation.getRuntimeHints();
		assertThat(RuntimeHintsPredicates.reflection().onMethodInvocation(Order.class, "customer")).accepts(hints);
		assertThat(RuntimeHintsPredicates.reflection().onMethodInvocation(Customer.class, "id")).accepts(hints);
		assertThat(RuntimeHintsPredicates.reflection().onMethodInvocation(Orders.class, "lastQuote")).accepts(hints);
		assertThat(RuntimeHintsPredicates.reflection().onMethodInvocation(Orders.class, "held")).accepts(hints);
		assertThat(RuntimeHintsPredicates.reflection().onMethodInvocation(Other.class, "unrelated")).rejects(hints);
	}

	@Test
	void nativeImageContainsScriptsAndProperties() {
		process(DatabaseApplication.class, List.of("spring.datasource.url=jdbc:h2:mem:aot"));
		RuntimeHints hints = this.generation.getRuntimeHints();
		for (String database : List.of("h2", "mysql", "postgresql")) {
			assertThat(RuntimeHintsPredicates.resource()
				.forResource("io/github/holdfast/jdbc/schema-" + database + ".sql")).accepts(hints);
		}
		assertThat(RuntimeHintsPredicates.reflection().onType(HoldfastProperties.class)).accepts(hints);
		assertThat(RuntimeHintsPredicates.reflection().onType(HoldfastProperties.Jdbc.class)).accepts(hints);
		assertThat(RuntimeHintsPredicates.reflection().onMethodInvocation(JpaTransactionManager.class, "getDataSource"))
			.accepts(hints);
	}

	@Test
	void nativeImageContainsWhatTheEndpointShows() {
		process(OperatedApplication.class,
				List.of("holdfast.backend=local", "management.endpoints.web.exposure.include=locks,health"));
		RuntimeHints hints = this.generation.getRuntimeHints();
		assertThat(LocksEndpoint.class.getDeclaredMethods())
			.filteredOn((method) -> Modifier.isPublic(method.getModifiers()))
			.hasSize(3)
			.allSatisfy((operation) -> assertThat(RuntimeHintsPredicates.reflection().onMethodInvocation(operation))
				.accepts(hints));
		for (Class<?> descriptor : List.of(LocksDescriptor.class, LockDescriptor.class, CallDescriptor.class,
				LockHolder.class, ForceReleaseDescriptor.class)) {
			assertThat(RuntimeHintsPredicates.reflection()
				.onType(descriptor)
				.withMemberCategory(MemberCategory.INVOKE_DECLARED_CONSTRUCTORS)).as(descriptor.getSimpleName())
				.accepts(hints);
			for (RecordComponent component : descriptor.getRecordComponents()) {
				assertThat(RuntimeHintsPredicates.reflection().onMethodInvocation(component.getAccessor()))
					.accepts(hints);
			}
		}
	}

	private void refused(List<String> atTheBuild, List<String> atTheStart, String message) {
		assertThatException().isThrownBy(() -> run(Application.class, atTheBuild, atTheStart, (context) -> {
		})).withRootCauseInstanceOf(LockConfigurationException.class).havingRootCause().withMessageContaining(message);
	}

	private ClassName process(Class<?> application, List<String> properties) {
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		TestPropertyValues.of(properties).applyTo(context);
		context.register(application);
		ClassName initializer = new ApplicationContextAotGenerator().processAheadOfTime(context, this.generation);
		this.generation.writeGeneratedContent();
		return initializer;
	}

	@SuppressWarnings("unchecked")
	private void run(Class<?> application, List<String> atTheBuild, List<String> atTheStart,
			Consumer<GenericApplicationContext> test) {
		ClassName initializer = process(application, atTheBuild);
		TestCompiler.forSystem().with(this.generation).compile((compiled) -> {
			System.setProperty(AotDetector.AOT_ENABLED, "true");
			try (GenericApplicationContext context = new GenericApplicationContext()) {
				TestPropertyValues.of(atTheStart).applyTo(context);
				compiled.getInstance(ApplicationContextInitializer.class, initializer.toString()).initialize(context);
				context.refresh();
				test.accept(context);
			}
		});
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ HoldfastAutoConfiguration.class })
	@Import(Orders.class)
	static class Application {

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
			TransactionAutoConfiguration.class, JdbcTemplateAutoConfiguration.class, JdbcClientAutoConfiguration.class,
			HoldfastAutoConfiguration.class })
	@Import(Orders.class)
	static class DatabaseApplication {

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ HoldfastAutoConfiguration.class, HoldfastActuatorAutoConfiguration.class })
	static class OperatedApplication {

	}

	static class Orders {

		@DistributedLock(key = "'order:' + #order.customer.id")
		public List<String> held(Order order) {
			return LockContext.current().map(LockContext::keys).orElse(List.of());
		}

		@DistributedLock(key = "'quote:' + #id", waitTime = "0s", fallbackMethod = "lastQuote")
		public String quote(String id) {
			return "a new one for " + id;
		}

		public String lastQuote(String id, LockNotAcquiredException busy) {
			return "the last one";
		}

		@DistributedLock(key = "'order:' + #id")
		@Transactional
		public boolean transactional(String id) {
			LockContext.assertHeld("order:" + id);
			return TransactionSynchronizationManager.isActualTransactionActive();
		}

	}

	record Order(Customer customer, int quantity) {

	}

	record Customer(String id) {

	}

	static class Other {

		void unrelated() {
		}

	}

}
