package io.github.holdfast.autoconfigure;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.jdbc.FailoverConnections;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockBackend;
import io.github.holdfast.LockRequest;
import io.github.holdfast.core.LockConfigurationException;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * When the session mode can be used, and what is said when it cannot.
 */
class JdbcSessionConfigurationTests {

	@Test
	void tableIsTheDefault() {
		LockedApplication.jdbc(TestDatabase.H2.newDatabase())
			.run((context) -> assertThat(context.getBean(LockBackend.class)).hasToString("backend 'jdbc'"));
	}

	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = { "MARIADB", "POSTGRESQL" })
	void sessionModeNeedsOneProperty(TestDatabase database) {
		application(database).run((context) -> {
			assertThat(context.getBean(LockBackend.class)).hasToString("backend 'jdbc' in session mode");
			assertThat(context.getBean(LockBackend.class).capabilities()).contains(LockBackend.Capability.SAME_SESSION);
		});
	}

	@Test
	void sessionModeOnH2FailsTheStart() {
		application(TestDatabase.H2).run((context) -> assertThat(context).getFailure()
			.isInstanceOf(LockConfigurationException.class)
			.hasMessageContainingAll("'H2'", "'holdfast.jdbc.mode' to 'table'"));
	}

	@ParameterizedTest
	@CsvSource({ "holdfast.commit-guard=lease,'holdfast.commit-guard'",
			"holdfast.commit-guard=verify,'holdfast.commit-guard'",
			"holdfast.on-active-transaction=release-after-completion,'holdfast.on-active-transaction'",
			"holdfast.jdbc.max-sessions=0,'holdfast.jdbc.max-sessions'",
			"holdfast.jdbc.max-sessions=11,'the size of the connection pool, 10'" })
	void propertyThatDoesNotFitFailsTheStart(String property, String message) {
		application(TestDatabase.POSTGRESQL).withPropertyValues(property)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(LockConfigurationException.class)
				.hasMessageContaining(message));
	}

	@Test
	void guardOfTheLevelFenceIsNoContradiction() {
		application(TestDatabase.POSTGRESQL).withPropertyValues("holdfast.commit-guard=fence")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void optimisticLockFailsTheStart() {
		application(TestDatabase.POSTGRESQL).withBean(OptimisticService.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOfSatisfying(LockConfigurationException.class,
						(ex) -> assertThat(ex.description() + " " + ex.action()).contains("asks for [OPTIMISTIC]",
								"'holdfast.jdbc.mode' must be 'table'")));
	}

	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = { "MARIADB", "POSTGRESQL" })
	void poolerThatChangesSessionsBetweenTransactionsFailsTheStart(TestDatabase database) {
		DatabaseAccess access = database.newDatabase();
		try (HikariDataSource servers = access.dataSource(2)) {
			application(access).withBean("dataSource", DataSource.class, () -> new TransactionPooler(servers))
				.run((context) -> assertThat(context).getFailure()
					.isInstanceOf(LockConfigurationException.class)
					.hasMessageContaining("change their database session between transactions"));
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "jdbc:mariadb:sequential:%s", "jdbc:mariadb:loadbalance:%s", "jdbc:mariadb:replication:%s",
			"jdbc:mariadb:LoadBalance:%s", "jdbc:mariadb:%s?transactionReplay=true",
			"jdbc:mariadb:%s?connectTimeout=5000&autoReconnect=true" })
	void driverOfMariaDbThatReplacesSessionsFailsTheStart(String url) {
		DatabaseAccess access = TestDatabase.MARIADB.newDatabase();
		String address = access.url().substring("jdbc:mariadb:".length());
		application(new DatabaseAccess(url.formatted(address), access.user(), access.password()))
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOfSatisfying(LockConfigurationException.class, (ex) -> {
					assertThat(ex.description()).contains("may replace the database session of a connection");
					assertThat(ex.action()).contains("'autoReconnect'", "'holdfast.jdbc.mode' to 'table'");
				}));
	}

	@ParameterizedTest
	@ValueSource(strings = { "jdbc:mysql://db/shop?autoReconnect=true", "jdbc:mysql://db/shop?a=b&AUTORECONNECT=TRUE",
			"jdbc:mysql://db/shop?autoReconnectForPools=yes", "jdbc:mysql://(host=db,autoReconnect=true)/shop",
			"jdbc:mysql:loadbalance://one,two/shop", "jdbc:mysql:replication://one,two/shop",
			"jdbc:mysql+srv:loadbalance://db/shop", "jdbc:mysql+srv://db/shop", "jdbc:mysql:aws://db/shop",
			"jdbc:mysql://one:3306,two:3306/shop", "jdbc:mysql://[(host=one,port=1),(host=two)]/shop",
			"jdbc:aws-wrapper:mysql://db/shop", "jdbc:mariadb:load-balance-read://one,two/shop" })
	void driverThatReplacesSessionsFailsTheStart(String url) {
		DatabaseAccess access = TestDatabase.MARIADB.newDatabase();
		try (HikariDataSource pool = access.dataSource(2)) {
			application(access).withBean("dataSource", DataSource.class, () -> new OtherDriver(pool, url))
				.run((context) -> assertThat(context).getFailure()
					.isInstanceOf(LockConfigurationException.class)
					.hasMessageContaining("may replace the database session of a connection"));
		}
	}

	@Test
	void driverOfAmazonFailsTheStart() {
		DatabaseAccess access = TestDatabase.POSTGRESQL.newDatabase();
		try (HikariDataSource pool = access.dataSource(2)) {
			application(access).withBean("dataSource", DataSource.class, () -> new FailoverConnections(pool))
				.run((context) -> assertThat(context).getFailure()
					.isInstanceOf(LockConfigurationException.class)
					.hasMessageContaining("may replace the database session of a connection"));
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "jdbc:mysql://db/shop?autoReconnect=false&connectTimeout=5000",
			"jdbc:mysql://(host=db,port=3306)/shop?sessionVariables=a=1,b=2", "jdbc:mariadb://one,two/shop",
			"jdbc:postgresql:shop", "jdbc:postgresql://one,two/shop" })
	void driverThatKeepsSessionsIsAccepted(String url) {
		DatabaseAccess access = TestDatabase.MARIADB.newDatabase();
		try (HikariDataSource pool = access.dataSource(2)) {
			application(access).withBean("dataSource", DataSource.class, () -> new OtherDriver(pool, url))
				.run((context) -> assertThat(context).hasNotFailed());
		}
	}

	@Test
	void poolWithOneConnectionIsEnough() {
		application(TestDatabase.POSTGRESQL).withPropertyValues("spring.datasource.hikari.maximum-pool-size=1")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "secondManager" })
	void transactionManagerOnAnotherPoolFailsTheStart(String named) {
		DatabaseAccess access = TestDatabase.POSTGRESQL.newDatabase();
		application(access).withBean(DatabaseAccess.class, () -> access)
			.withUserConfiguration(SecondPool.class)
			.withPropertyValues("holdfast.fenced-transaction-managers=" + named)
			.run((context) -> assertThat(context).getFailure()
				.hasMessageContainingAll("'secondManager'", "its DataSource is not the connection pool of the locks"));
	}

	@Test
	void routerFailsTheStart() {
		DatabaseAccess access = TestDatabase.POSTGRESQL.newDatabase();
		application(access).withBean(DatabaseAccess.class, () -> access)
			.withUserConfiguration(Router.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(LockConfigurationException.class)
				.hasMessageContaining("routes to several databases"));
	}

	@Test
	void proxyOfSpringStaysOutside() {
		DatabaseAccess access = TestDatabase.POSTGRESQL.newDatabase();
		application(access).withBean(DatabaseAccess.class, () -> access)
			.withUserConfiguration(Proxied.class)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(context.getBean(DataSource.class)).isInstanceOf(TransactionAwareDataSourceProxy.class);
			});
	}

	private static ApplicationContextRunner application(TestDatabase database) {
		return application(database.newDatabase());
	}

	private static ApplicationContextRunner application(DatabaseAccess access) {
		return LockedApplication.jdbc(access).withPropertyValues("holdfast.jdbc.mode=session");
	}

	/**
	 * Gives each statement or transaction the server connection that came back last, as
	 * PgBouncer does with {@code pool_mode = transaction}.
	 */
	private static final class TransactionPooler extends DelegatingDataSource {

		private final Deque<Connection> idle = new ArrayDeque<>();

		TransactionPooler(DataSource servers) {
			super(servers);
		}

		@Override
		public Connection getConnection() throws SQLException {
			boolean[] transaction = new boolean[1];
			Connection[] server = new Connection[1];
			return (Connection) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Connection.class },
					(proxy, method, args) -> {
						if (server[0] == null) {
							server[0] = this.idle.isEmpty() ? super.getConnection() : this.idle.pop();
							server[0].setAutoCommit(!transaction[0]);
						}
						Object result = null;
						switch (method.getName()) {
							case "setAutoCommit" -> {
								transaction[0] = !(Boolean) args[0];
								server[0].setAutoCommit(!transaction[0]);
							}
							case "close" -> {
							}
							default -> result = method.invoke(server[0], args);
						}
						if (!transaction[0] || method.getName().matches("commit|rollback|close")) {
							this.idle.push(server[0]);
							server[0] = null;
						}
						return result;
					});
		}

	}

	/**
	 * Reports the URL of a driver that is not here.
	 */
	private static final class OtherDriver extends DelegatingDataSource {

		private final String url;

		OtherDriver(DataSource pool, String url) {
			super(pool);
			this.url = url;
		}

		@Override
		public Connection getConnection() throws SQLException {
			Connection connection = super.getConnection();
			return proxy(Connection.class, (proxy, method, args) -> {
				Object result = method.invoke(connection, args);
				return (result instanceof DatabaseMetaData metaData) ? withUrl(metaData) : result;
			});
		}

		private DatabaseMetaData withUrl(DatabaseMetaData metaData) {
			return proxy(DatabaseMetaData.class, (proxy, method, args) -> method.getName().equals("getURL") ? this.url
					: method.invoke(metaData, args));
		}

		private static <T> T proxy(Class<T> type, InvocationHandler handler) {
			return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, handler));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class SecondPool {

		@Bean
		@Primary
		HikariDataSource first(DatabaseAccess access) {
			return access.dataSource(3);
		}

		@Bean
		HikariDataSource second(DatabaseAccess access) {
			return access.dataSource(3);
		}

		@Bean
		JdbcTransactionManager secondManager(@Qualifier("second") DataSource second) {
			return new JdbcTransactionManager(second);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Router {

		@Bean(autowireCandidate = false)
		HikariDataSource target(DatabaseAccess access) {
			return access.dataSource(3);
		}

		@Bean
		DataSource dataSource(DatabaseAccess access) {
			AbstractRoutingDataSource router = new AbstractRoutingDataSource() {

				@Override
				protected Object determineCurrentLookupKey() {
					return "one";
				}

			};
			router.setTargetDataSources(Map.of("one", target(access)));
			return router;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Proxied {

		@Bean
		DataSource dataSource(DatabaseAccess access) {
			return new TransactionAwareDataSourceProxy(access.dataSource(3));
		}

	}

	static class OptimisticService {

		@DistributedLock(key = "'a'", mode = LockRequest.Mode.OPTIMISTIC)
		public void merge() {
		}

	}

}
