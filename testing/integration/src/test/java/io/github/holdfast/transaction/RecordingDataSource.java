package io.github.holdfast.transaction;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import javax.sql.DataSource;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.annotation.EnableTransactionManagement;

/** Notes what is prepared and committed on its connections. */
class RecordingDataSource extends DelegatingDataSource {

	/** It could be a router. */
	static final String GUARDED = "holdfast.transaction-managers.transactionManager=fence";

	private final List<String> statements = new CopyOnWriteArrayList<>();

	private volatile Runnable beforeCommit = () -> {
	};

	RecordingDataSource(DataSource target) {
		super(target);
	}

	void beforeCommit(Runnable action) {
		this.beforeCommit = action;
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
						this.beforeCommit.run();
					}
					try {
						return method.invoke(target, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getCause();
					}
				});
	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	static class Beans {

		@Bean
		static BeanPostProcessor recordingDataSource() {
			return new BeanPostProcessor() {

				@Override
				public Object postProcessAfterInitialization(Object bean, String beanName) {
					return (bean instanceof DataSource dataSource) ? new RecordingDataSource(dataSource) : bean;
				}

			};
		}

	}

}
