package software.amazon.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * Connections whose class is in the package of Amazon's driver, which puts them around
 * those of another driver and reports the URL of that one.
 */
public final class FailoverConnections extends DelegatingDataSource {

	/**
	 * Create connections.
	 * @param pool the connections to put them around
	 */
	public FailoverConnections(DataSource pool) {
		super(pool);
	}

	@Override
	public Connection getConnection() throws SQLException {
		Connection connection = super.getConnection();
		// The class of a proxy is in the package of an interface that is not public
		return (Connection) Proxy.newProxyInstance(FailoverConnections.class.getClassLoader(),
				new Class<?>[] { Connection.class, Failover.class }, (proxy, method, args) -> {
					try {
						return method.invoke(connection, args);
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
	}

	interface Failover {

	}

}
