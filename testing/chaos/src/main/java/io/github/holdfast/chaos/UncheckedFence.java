package io.github.holdfast.chaos;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.regex.Pattern;

import javax.sql.DataSource;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * Takes the comparisons out of the fence: each commit finds the row of its key, whoever
 * is in it, and each transaction claims it. Everything else is as at the level
 * {@code fence}. What the machine finds then is what these comparisons prevent.
 */
final class UncheckedFence implements BeanPostProcessor {

	private static final Pattern COMPARED_AT_COMMIT = Pattern
		.compile("( FROM holdfast_(?:fence|lock) WHERE )epoch = \\? AND (?!version)(.+?) = \\? AND ");

	private static final String COMPARED_BY_CLAIM = "(epoch < ? OR (epoch = ? AND owner = ?))";

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		return (bean instanceof DataSource dataSource) ? new Replacing(dataSource) : bean;
	}

	private static String replace(String sql) {
		return COMPARED_AT_COMMIT.matcher(sql)
			.replaceAll("$1(epoch = ? OR 1 = 1) AND ($2 = ? OR 1 = 1) AND ")
			.replace(COMPARED_BY_CLAIM, "(epoch < ? OR epoch = ? OR owner = ? OR 1 = 1)");
	}

	private static final class Replacing extends DelegatingDataSource {

		Replacing(DataSource target) {
			super(target);
		}

		@Override
		public Connection getConnection() throws SQLException {
			Connection connection = super.getConnection();
			InvocationHandler handler = (proxy, method, args) -> {
				try {
					if (method.getName().equals("prepareStatement")) {
						args[0] = replace((String) args[0]);
					}
					return method.invoke(connection, args);
				}
				catch (InvocationTargetException ex) {
					throw ex.getCause();
				}
			};
			return (Connection) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Connection.class },
					handler);
		}

	}

}
