package io.github.holdfast.store.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

import javax.sql.DataSource;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/** A database that says that it is one of several servers which accept writes. */
class SeveralWritersTests {

	@ParameterizedTest
	@ValueSource(strings = { "SELECT 'wsrep_on', 'ON'", "SELECT 'group_replication_group_name', 'group' "
			+ "UNION SELECT 'group_replication_single_primary_mode', 'OFF'" })
	void isUsedOnlyIfThatIsAskedFor(String answer) {
		ApplicationContextRunner application = application(answer);
		application.run((context) -> assertThat(context).getFailure()
			.hasMessageContaining("a cluster in which several servers accept writes"));
		application.withPropertyValues("holdfast.startup-checks=warn")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@ValueSource(strings = { "SELECT 'wsrep_on', 'OFF'", "SELECT 'group_replication_group_name', 'group' "
			+ "UNION SELECT 'group_replication_single_primary_mode', 'ON'" })
	void oneWriterIsFine(String answer) {
		application(answer).run((context) -> assertThat(context).hasNotFailed());
	}

	private static ApplicationContextRunner application(String answer) {
		return LockedApplication.jdbc(TestDatabase.MARIADB.newDatabase())
			.withPropertyValues("holdfast.transaction-managers.transactionManager=fence")
			.withBean(BeanPostProcessor.class, () -> new BeanPostProcessor() {

				@Override
				public Object postProcessAfterInitialization(Object bean, String beanName) {
					return (bean instanceof DataSource dataSource) ? answering(dataSource, answer) : bean;
				}

			});
	}

	private static DataSource answering(DataSource target, String answer) {
		return new DelegatingDataSource(target) {

			@Override
			public Connection getConnection() throws SQLException {
				return answering(Connection.class, super.getConnection(), answer);
			}

		};
	}

	private static <T> T answering(Class<T> type, T target, String answer) {
		return type
			.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (proxy, method, arguments) -> {
				if (method.getName().equals("executeQuery") && arguments != null
						&& arguments[0].toString().startsWith("SHOW GLOBAL VARIABLES")) {
					arguments[0] = answer;
				}
				try {
					Object result = method.invoke(target, arguments);
					return method.getName().equals("createStatement")
							? answering(Statement.class, (Statement) result, answer) : result;
				}
				catch (InvocationTargetException ex) {
					throw ex.getCause();
				}
			}));
	}

}
