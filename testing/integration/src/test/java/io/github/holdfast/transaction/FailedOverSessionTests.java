package io.github.holdfast.transaction;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicBoolean;

import javax.sql.DataSource;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import io.github.holdfast.LockLostException;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Drivers with failover answer a statement with an error when the session has ended, and
 * let the connection go on with another one. The body catches that and goes on.
 */
class FailedOverSessionTests {

	@ParameterizedTest
	@EnumSource
	void noUpdateIsLostInAnotherSession(TestDatabase database) {
		ApplicationContextRunner node = LockedApplication.jdbc(database.newDatabase())
			.withBean(LockedShop.class)
			.withPropertyValues("holdfast.wait-time=0");
		node.withUserConfiguration(FailoverDriver.class).run((context) -> {
			JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
			LockedShop.createTables(jdbc);
			node.run((other) -> {
				LockedShop shop = context.getBean(LockedShop.class);
				FailoverDataSource dataSource = (FailoverDataSource) context.getBean(DataSource.class);
				AcknowledgedSales sales = new AcknowledgedSales();
				Runnable another = () -> other.getBean(LockedShop.class).take(() -> {
				});
				sales.sell(1, () -> shop.take(() -> {
				}));
				Throwable refusal = sales.sell(1, () -> shop.take(() -> {
					dataSource.failOver();
					assertThatExceptionOfType(DataAccessResourceFailureException.class)
						.isThrownBy(() -> jdbc.update("INSERT INTO audit VALUES (1)"));
					assertThat(sales.sellMeanwhile(1, another)).as("the row is free").isNull();
				}));
				assertThat(refusal).isInstanceOf(LockLostException.class);
				sales.assertNoneIsLostIn(shop.quantity());
			});
		});
	}

	/**
	 * Goes on with another session at the next statement.
	 */
	private static final class FailoverDataSource extends DelegatingDataSource {

		private final AtomicBoolean failing = new AtomicBoolean();

		FailoverDataSource(DataSource target) {
			super(target);
		}

		void failOver() {
			this.failing.set(true);
		}

		@Override
		public Connection getConnection() throws SQLException {
			Connection[] session = { super.getConnection() };
			return (Connection) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Connection.class },
					(proxy, method, arguments) -> {
						if (method.getName().endsWith("Statement") && this.failing.getAndSet(false)) {
							session[0] = another(session[0]);
							throw new SQLException("The connection has changed", "08007");
						}
						try {
							return method.invoke(session[0], arguments);
						}
						catch (InvocationTargetException ex) {
							throw ex.getCause();
						}
					});
		}

		private Connection another(Connection session) throws SQLException {
			Connection another = super.getConnection();
			another.setAutoCommit(session.getAutoCommit());
			session.rollback();
			session.close();
			return another;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class FailoverDriver {

		@Bean
		static BeanPostProcessor failoverDataSource() {
			return new BeanPostProcessor() {

				@Override
				public Object postProcessAfterInitialization(Object bean, String beanName) {
					return (bean instanceof DataSource dataSource) ? new FailoverDataSource(dataSource) : bean;
				}

			};
		}

	}

}
