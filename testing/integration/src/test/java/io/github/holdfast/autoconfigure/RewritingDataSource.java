package io.github.holdfast.autoconfigure;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.function.UnaryOperator;

import javax.sql.DataSource;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * A database that understands statements as other ones, as one does that only looks like
 * the one that it claims to be.
 */
final class RewritingDataSource extends DelegatingDataSource {

	private final UnaryOperator<String> statements;

	private RewritingDataSource(DataSource target, UnaryOperator<String> statements) {
		super(target);
		this.statements = statements;
	}

	/**
	 * An application on such a database.
	 */
	static ApplicationContextRunner in(ApplicationContextRunner application, UnaryOperator<String> statements) {
		return application.withBean(Wrapping.class, () -> new Wrapping(statements));
	}

	@Override
	public Connection getConnection() throws SQLException {
		return rewriting(super.getConnection(), this.statements);
	}

	private static Connection rewriting(Connection target, UnaryOperator<String> statements) {
		return (Connection) Proxy.newProxyInstance(RewritingDataSource.class.getClassLoader(),
				new Class<?>[] { Connection.class }, (proxy, method, arguments) -> {
					if (method.getName().equals("prepareStatement")) {
						arguments[0] = statements.apply((String) arguments[0]);
					}
					try {
						return method.invoke(target, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getCause();
					}
				});
	}

	private record Wrapping(UnaryOperator<String> statements) implements BeanPostProcessor {

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			return (bean instanceof DataSource target) ? new RewritingDataSource(target, this.statements) : bean;
		}

	}

}
