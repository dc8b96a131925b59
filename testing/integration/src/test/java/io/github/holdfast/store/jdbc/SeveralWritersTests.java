package io.github.holdfast.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import io.github.holdfast.testsupport.AroundDataSources;
import io.github.holdfast.testsupport.Intercepted;
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
			.withBean(AroundDataSources.class, () -> new AroundDataSources((pool) -> answering(pool, answer)));
	}

	private static DataSource answering(DataSource target, String answer) {
		return new DelegatingDataSource(target) {

			@Override
			public Connection getConnection() throws SQLException {
				return answering(super.getConnection(), answer);
			}

		};
	}

	private static <T> T answering(T target, String answer) {
		return Intercepted.of(target, (invocation) -> {
			String method = invocation.getMethod().getName();
			Object[] arguments = invocation.getArguments();
			if (method.equals("executeQuery") && arguments.length > 0
					&& arguments[0].toString().startsWith("SHOW GLOBAL VARIABLES")) {
				arguments[0] = answer;
			}
			Object result = invocation.proceed();
			return (result != null && method.equals("createStatement")) ? answering(result, answer) : result;
		});
	}

}
