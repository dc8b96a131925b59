package io.github.holdfast.testsupport;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import javax.sql.DataSource;

import org.springframework.aop.MethodBeforeAdvice;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * Notes the statements that an application prepares on its DataSource.
 */
public final class StatementLog implements BeanPostProcessor {

	private final List<String> statements = new CopyOnWriteArrayList<>();

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		return (bean instanceof DataSource dataSource) ? new LoggingDataSource(dataSource) : bean;
	}

	/**
	 * How often a statement was prepared.
	 * @param beginning how it starts
	 * @return the number
	 */
	public long count(String beginning) {
		return this.statements.stream().filter((sql) -> sql.startsWith(beginning)).count();
	}

	/**
	 * Forget what was noted.
	 */
	public void clear() {
		this.statements.clear();
	}

	private final class LoggingDataSource extends DelegatingDataSource {

		private LoggingDataSource(DataSource target) {
			super(target);
		}

		@Override
		public Connection getConnection() throws SQLException {
			ProxyFactory proxy = new ProxyFactory(super.getConnection());
			proxy.addAdvice((MethodBeforeAdvice) (method, args, target) -> {
				if (method.getName().equals("prepareStatement")) {
					StatementLog.this.statements.add((String) args[0]);
				}
			});
			return (Connection) proxy.getProxy(StatementLog.class.getClassLoader());
		}

	}

}
