package io.github.holdfast.transaction.attack;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.function.Predicate;

import javax.sql.DataSource;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.holdfast.testsupport.AroundDataSources;

/** A statement or COMMIT whose session breaks, and which the database executes later. */
final class Wire {

	static final String NAMED = "holdfast.transaction-managers.transactionManager=fence";

	private volatile Predicate<String> delayed = (sql) -> false;

	private volatile Call late = () -> {
	};

	/** Holds up the next one of this thread. Others renew leases. */
	void delayNext(Predicate<String> delayed) {
		Thread thread = Thread.currentThread();
		this.delayed = (sql) -> Thread.currentThread() == thread && delayed.test(sql);
	}

	/** Lets it arrive. */
	void deliver() {
		try {
			this.late.call();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private DataSource wrap(DataSource pool) {
		return proxy(DataSource.class, (method, arguments) -> method.getName().equals("getConnection")
				? wrap((Connection) invoke(pool, method, arguments)) : invoke(pool, method, arguments));
	}

	private Connection wrap(Connection connection) {
		boolean[] broken = new boolean[1];
		Connection[] wrapped = new Connection[1];
		wrapped[0] = proxy(Connection.class, (method, arguments) -> {
			if (method.getName().equals("unwrap") && arguments[0] == Connection.class) {
				return wrapped[0];
			}
			if (broken[0] && (method.getName().equals("close") || method.getName().equals("isClosed"))) {
				return method.getName().equals("isClosed") ? true : null;
			}
			if (broken[0]) {
				throw new SQLException("The session is broken", "08006");
			}
			if (method.getName().equals("commit") && this.delayed.test("COMMIT")) {
				throw breaks(broken, () -> {
					connection.commit();
					connection.close();
				});
			}
			Object result = invoke(connection, method, arguments);
			return (result instanceof PreparedStatement statement)
					? wrap(connection, broken, statement, (String) arguments[0]) : result;
		});
		return wrapped[0];
	}

	private PreparedStatement wrap(Connection connection, boolean[] broken, PreparedStatement statement, String sql) {
		return proxy(PreparedStatement.class, (method, arguments) -> {
			if (method.getName().startsWith("execute") && this.delayed.test(sql)) {
				throw breaks(broken, () -> {
					statement.execute();
					if (!connection.getAutoCommit()) {
						connection.commit();
					}
					connection.close();
				});
			}
			return (broken[0] && method.getName().equals("close")) ? null : invoke(statement, method, arguments);
		});
	}

	private SQLException breaks(boolean[] broken, Call late) {
		this.delayed = (sql) -> false;
		this.late = late;
		broken[0] = true;
		return new SQLException("The session broke", "08006");
	}

	private static Object invoke(Object target, Method method, Object[] arguments) throws Throwable {
		try {
			return method.invoke(target, arguments);
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
	}

	private static <T> T proxy(Class<T> type, Handler handler) {
		return type.cast(Proxy.newProxyInstance(Wire.class.getClassLoader(), new Class<?>[] { type },
				(proxy, method, arguments) -> switch (method.getName()) {
					case "equals" -> proxy == arguments[0];
					case "hashCode" -> System.identityHashCode(proxy);
					default -> handler.handle(method, arguments);
				}));
	}

	@FunctionalInterface
	private interface Handler {

		Object handle(Method method, Object[] arguments) throws Throwable;

	}

	@FunctionalInterface
	private interface Call {

		void call() throws SQLException;

	}

	@Configuration(proxyBeanMethods = false)
	static class WireConfiguration {

		@Bean
		static Wire wire() {
			return new Wire();
		}

		@Bean
		static BeanPostProcessor wiring(Wire wire) {
			return new AroundDataSources(wire::wrap);
		}

	}

}
