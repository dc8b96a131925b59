package io.github.holdfast.chaos;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;

import javax.sql.DataSource;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * Takes the comparisons out of the fence: each commit finds the row of its key, whoever
 * is in it, and each transaction claims it. Everything else is as at the level
 * {@code fence}. What the machine finds then is what these comparisons prevent.
 */
final class UncheckedFence implements BeanPostProcessor {

	private static final Map<String, String> REPLACEMENTS = Map.of(
			" FROM holdfast_fence WHERE epoch = ? AND owner = ? AND ",
			" FROM holdfast_fence WHERE (epoch = ? OR 1 = 1) AND (owner = ? OR 1 = 1) AND ",
			" FROM holdfast_lock WHERE epoch = ? AND owner = ? AND ",
			" FROM holdfast_lock WHERE (epoch = ? OR 1 = 1) AND (owner = ? OR 1 = 1) AND ",
			"(epoch < ? OR (epoch = ? AND owner = ?))", "(epoch < ? OR epoch = ? OR owner = ? OR 1 = 1)");

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		return (bean instanceof DataSource dataSource) ? new Replacing(dataSource) : bean;
	}

	private static String replace(String sql) {
		String replaced = sql;
		for (Map.Entry<String, String> replacement : REPLACEMENTS.entrySet()) {
			replaced = replaced.replace(replacement.getKey(), replacement.getValue());
		}
		return replaced;
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
