package io.github.holdfast.transaction;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import javax.sql.DataSource;

import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * Notes what is prepared and committed on its connections.
 */
class RecordingDataSource extends DelegatingDataSource {

	private final List<String> statements = new CopyOnWriteArrayList<>();

	RecordingDataSource(DataSource target) {
		super(target);
	}

	List<String> statements() {
		return List.copyOf(this.statements);
	}

	void clear() {
		this.statements.clear();
	}

	@Override
	public Connection getConnection() throws SQLException {
		Connection target = super.getConnection();
		return (Connection) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Connection.class },
				(proxy, method, arguments) -> {
					if (method.getName().equals("prepareStatement")) {
						this.statements.add((String) arguments[0]);
					}
					if (method.getName().equals("commit")) {
						this.statements.add("commit");
					}
					try {
						return method.invoke(target, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getCause();
					}
				});
	}

}
