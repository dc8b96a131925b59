package io.github.holdfast.transaction;

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

import io.github.holdfast.testsupport.AroundDataSources;
import io.github.holdfast.testsupport.Intercepted;

/** Notes what is prepared and committed on its connections. */
public class RecordingDataSource extends DelegatingDataSource {

	/** It could be a router. */
	public static final String GUARDED = "holdfast.transaction-managers.transactionManager=fence";

	private final List<String> statements = new CopyOnWriteArrayList<>();

	private volatile Runnable beforeCommit = () -> {
	};

	RecordingDataSource(DataSource target) {
		super(target);
	}

	void beforeCommit(Runnable action) {
		this.beforeCommit = action;
	}

	public List<String> statements() {
		return List.copyOf(this.statements);
	}

	public void clear() {
		this.statements.clear();
	}

	/** Whether it locks the row of a transaction lock. */
	public static boolean isLock(String sql) {
		return sql.equals("UPDATE holdfast_lock SET epoch = epoch + 1, owner = ? WHERE lock_key = ? AND expires_at = 0")
				|| sql.equals("SELECT epoch FROM holdfast_lock WHERE lock_key = ? FOR UPDATE SKIP LOCKED");
	}

	@Override
	public Connection getConnection() throws SQLException {
		return Intercepted.of(super.getConnection(), (invocation) -> {
			String method = invocation.getMethod().getName();
			if (method.equals("prepareStatement")) {
				this.statements.add((String) invocation.getArguments()[0]);
			}
			if (method.equals("commit")) {
				this.statements.add("commit");
				this.beforeCommit.run();
			}
			return invocation.proceed();
		});
	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	public static class Beans {

		@Bean
		static BeanPostProcessor recordingDataSource() {
			return new AroundDataSources(RecordingDataSource::new);
		}

	}

}
