package io.github.holdfast.autoconfigure;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.transaction.support.SimpleTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockLostException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.store.local.LocalLockBackend;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Which transaction managers are guarded at which level, and which cannot be.
 */
@ExtendWith(OutputCaptureExtension.class)
class CommitGuardConfigurationTests {

	private final ApplicationContextRunner application = LockedApplication.jdbc(TestDatabase.H2.newDatabase());

	@Test
	void managerOfBootHasExactlyOneGuard() {
		this.application
			.run((context) -> assertThat(guards(context.getBean(PlatformTransactionManager.class))).isEqualTo(1));
	}

	@Test
	void managerOfTheUserIsGuarded() {
		this.application.withUserConfiguration(OwnManager.class).run((context) -> {
			PlatformTransactionManager manager = context.getBean(PlatformTransactionManager.class);
			assertThat(guards(manager)).isEqualTo(1);
			assertSupersededHolderCannotCommit(context.getBean(LockTemplate.class), manager);
		});
	}

	@Test
	void listenersOfTheUserAreKept() {
		this.application.withUserConfiguration(OwnManager.class)
			.run((context) -> assertThat(
					context.getBean(DataSourceTransactionManager.class).getTransactionExecutionListeners())
				.hasSize(2)
				.contains(OwnManager.LISTENER));
	}

	@Test
	void managerOfAProxyOfTheSameDataSourceIsGuarded() {
		this.application.withUserConfiguration(LazyManager.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertSupersededHolderCannotCommit(context.getBean(LockTemplate.class),
					context.getBean(PlatformTransactionManager.class));
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "fence", "verify" })
	void managerThatTakesNoListenerFailsTheStart(String level) {
		LockBackendAutoConfigurationTests.assertFailure(
				this.application.withUserConfiguration(BareManager.class)
					.withPropertyValues("holdfast.commit-guard=" + level),
				"The transaction manager 'transactionManager'", "BareTransactionManager",
				"takes no TransactionExecutionListener", "ConfigurableTransactionManager",
				"name it in 'holdfast.unguarded-transaction-managers'", "'holdfast.commit-guard' to 'lease'");
	}

	@ParameterizedTest
	@ValueSource(strings = { "fence", "verify" })
	void managerThatTakesNoListenerIsAcceptedWhenItIsListed(String level, CapturedOutput output) {
		this.application.withUserConfiguration(BareManager.class)
			.withPropertyValues("holdfast.commit-guard=" + level,
					"holdfast.unguarded-transaction-managers=transactionManager")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output.getOut().lines().filter((line) -> line.contains("Transaction manager 'transactionManager'")))
			.singleElement()
			.asString()
			.contains("WARN", "takes no listener", "are not guarded");
	}

	@Test
	void managerThatTakesNoListenerIsLoggedAtLease(CapturedOutput output) {
		this.application.withUserConfiguration(BareManager.class)
			.withPropertyValues("holdfast.commit-guard=lease")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).contains("Transaction manager 'transactionManager' takes no listener");
	}

	@Test
	void managerOfAnotherDatabaseFailsTheStartAtFence() {
		LockBackendAutoConfigurationTests.assertFailure(this.application.withUserConfiguration(OtherDatabase.class),
				"The commits of the transaction manager 'otherTransactionManager'", "cannot be checked by the fence",
				"its DataSource is not the connection pool of the locks", "'holdfast.fenced-transaction-managers'",
				"'holdfast.commit-guard'");
	}

	@ParameterizedTest
	@ValueSource(strings = { "lease", "verify" })
	void managerOfAnotherDatabaseIsAcceptedBelowFence(String level) {
		this.application.withUserConfiguration(OtherDatabase.class)
			.withPropertyValues("holdfast.commit-guard=" + level)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void fenceWithABackendOfTheUserAndNoFenceFailsTheStart() {
		LockBackendAutoConfigurationTests.assertFailure(
				this.application.withBean(LocalLockBackend.class).withPropertyValues("holdfast.commit-guard=fence"),
				"needs a Fence bean beside your own LockBackend bean", "FencedLockBackend");
	}

	@Test
	void levelIsLeaseByDefaultForABackendOfTheUser() {
		this.application.withBean(LocalLockBackend.class).run((context) -> assertThat(context).hasNotFailed());
	}

	private static long guards(PlatformTransactionManager manager) {
		return ((ConfigurableTransactionManager) manager).getTransactionExecutionListeners()
			.stream()
			.filter((listener) -> listener.getClass().getSimpleName().equals("CommitGuard"))
			.count();
	}

	private static void assertSupersededHolderCannotCommit(LockTemplate locks, PlatformTransactionManager manager) {
		JdbcTemplate jdbc = new JdbcTemplate((DataSource) ((ResourceTransactionManager) manager).getResourceFactory());
		TransactionTemplate transaction = new TransactionTemplate(manager);
		jdbc.execute("CREATE TABLE work (id integer)");
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> locks.run("A", () -> {
			jdbc.update("UPDATE holdfast_lock SET epoch = epoch + 1");
			transaction.executeWithoutResult((status) -> jdbc.update("INSERT INTO work VALUES (1)"));
		}));
		assertThat(jdbc.queryForObject("SELECT count(*) FROM work", Long.class)).isZero();
	}

	@Configuration(proxyBeanMethods = false)
	static class OwnManager {

		static final TransactionExecutionListener LISTENER = new TransactionExecutionListener() {

		};

		@Bean
		DataSourceTransactionManager ownTransactionManager(DataSource dataSource) {
			DataSourceTransactionManager manager = new DataSourceTransactionManager(dataSource);
			manager.addListener(LISTENER);
			return manager;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LazyManager {

		@Bean
		JdbcTransactionManager transactionManager(DataSource dataSource) {
			return new JdbcTransactionManager(new LazyConnectionDataSourceProxy(dataSource));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class BareManager {

		@Bean
		PlatformTransactionManager transactionManager() {
			return new BareTransactionManager();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OtherDatabase {

		@Bean
		@Primary
		JdbcTransactionManager transactionManager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

		@Bean
		JdbcTransactionManager otherTransactionManager() {
			return new JdbcTransactionManager(new DriverManagerDataSource("jdbc:h2:mem:other"));
		}

	}

	static class BareTransactionManager implements PlatformTransactionManager {

		@Override
		public TransactionStatus getTransaction(@Nullable TransactionDefinition definition) {
			return new SimpleTransactionStatus();
		}

		@Override
		public void commit(TransactionStatus status) {
		}

		@Override
		public void rollback(TransactionStatus status) {
		}

	}

}
