package io.github.holdfast.store.session;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;
import org.springframework.util.ReflectionUtils;

/**
 * What the user of a lent connection has set, such as the isolation level.
 */
final class LentSettings {

	private static final Map<String, String> GETTERS = Map.of("setReadOnly", "isReadOnly", "setTransactionIsolation",
			"getTransactionIsolation", "setCatalog", "getCatalog", "setSchema", "getSchema", "setHoldability",
			"getHoldability");

	private final Connection connection;

	private final Map<Method, Setting> settings = new HashMap<>();

	LentSettings(Connection connection) {
		this.connection = connection;
	}

	static boolean isSetter(Method method) {
		return GETTERS.containsKey(method.getName());
	}

	void set(Method setter, @Nullable Object value) throws SQLException {
		Setting before = this.settings.get(setter);
		Object original = (before != null) ? before.original() : call(getter(setter));
		call(setter, value);
		this.settings.put(setter, new Setting(original, value));
	}

	private static Method getter(Method setter) {
		Method getter = ReflectionUtils.findMethod(Connection.class, GETTERS.get(setter.getName()));
		Assert.state(getter != null, "No getter");
		return getter;
	}

	/**
	 * Set everything back.
	 * @param mode is switched to auto-commit for it, as some of the settings are
	 * statements, which would begin a transaction
	 */
	void restore(AutoCommitMode mode) throws SQLException {
		for (Map.Entry<Method, Setting> setting : this.settings.entrySet()) {
			Object original = setting.getValue().original();
			if (!Objects.equals(original, setting.getValue().current())) {
				mode.need(true);
				call(setting.getKey(), original);
			}
		}
	}

	private @Nullable Object call(Method method, @Nullable Object @Nullable ... args) throws SQLException {
		return call(this.connection, method, args);
	}

	/**
	 * Call a method of a connection.
	 */
	static @Nullable Object call(Connection connection, Method method, @Nullable Object @Nullable ... args)
			throws SQLException {
		try {
			return method.invoke(connection, args);
		}
		catch (InvocationTargetException ex) {
			if (ex.getTargetException() instanceof SQLException failure) {
				throw failure;
			}
			ReflectionUtils.rethrowRuntimeException(ex.getTargetException());
			return null;
		}
		catch (IllegalAccessException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * What was set.
	 *
	 * @param original the value before
	 * @param current the value now
	 */
	private record Setting(@Nullable Object original, @Nullable Object current) {
	}

}
