package io.github.holdfast.autoconfigure;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.regex.Pattern;

import javax.sql.DataSource;
import javax.sql.rowset.CachedRowSet;
import javax.sql.rowset.RowSetProvider;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * A database whose locking queries of one kind do not find rows that others have locked,
 * but lock nothing themselves.
 */
final class ReleasingDataSource extends DelegatingDataSource {

	private final Pattern clause;

	private ReleasingDataSource(DataSource target, Pattern clause) {
		super(target);
		this.clause = clause;
	}

	@Override
	public Connection getConnection() throws SQLException {
		Connection connection = super.getConnection();
		return proxy(Connection.class, (proxy, method, arguments) -> {
			Object result = invoke(connection, method, arguments);
			return method.getName().equals("prepareStatement") && isMeant((String) arguments[0])
					? releasing(connection, (PreparedStatement) result) : result;
		});
	}

	private boolean isMeant(String sql) {
		return sql.startsWith("SELECT") && this.clause.matcher(sql).find();
	}

	/**
	 * Locks end that were taken after a savepoint.
	 */
	private static PreparedStatement releasing(Connection connection, PreparedStatement statement) {
		return proxy(PreparedStatement.class, (proxy, method, arguments) -> {
			if (!method.getName().equals("executeQuery")) {
				return invoke(statement, method, arguments);
			}
			Savepoint savepoint = connection.setSavepoint();
			CachedRowSet rows = RowSetProvider.newFactory().createCachedRowSet();
			try (ResultSet rs = (ResultSet) invoke(statement, method, arguments)) {
				rows.populate(rs);
			}
			connection.rollback(savepoint);
			return rows;
		});
	}

	private static Object invoke(Object target, Method method, Object[] arguments) throws Throwable {
		try {
			return method.invoke(target, arguments);
		}
		catch (InvocationTargetException ex) {
			throw ex.getCause();
		}
	}

	private static <T> T proxy(Class<T> type, InvocationHandler handler) {
		return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, handler));
	}

	record Wrapping(String clause) implements BeanPostProcessor {

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			return (bean instanceof DataSource target) ? new ReleasingDataSource(target, Pattern.compile(this.clause))
					: bean;
		}

	}

}
