package io.github.holdfast.transaction;

import java.util.List;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockLostException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The application replaces the listeners of its transaction manager, and the guard with
 * them.
 */
@Tag("F70")
class ReplacedListenersTests {

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void commitIsCheckedWhenABeanReplacesTheListeners(TestDatabase database) {
		application(database).withBean(Metrics.class).run(ReplacedListenersTests::assertChecked);
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void commitIsCheckedWhenTheListenersAreReplacedAtRunTime(TestDatabase database) {
		application(database).run((context) -> {
			assertChecked(context);
			replaceListeners(context.getBean(ConfigurableTransactionManager.class));
			assertChecked(context);
			assertThat(context.getBean(ConfigurableTransactionManager.class).getTransactionExecutionListeners())
				.hasSize(2)
				.last()
				.isInstanceOf(CommitGuard.class);
		});
	}

	private static ApplicationContextRunner application(TestDatabase database) {
		return LockedApplication.jdbc(database.newDatabase());
	}

	private static void assertChecked(ApplicationContext context) {
		JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
		TransactionTemplate transaction = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
		jdbc.execute("DROP TABLE IF EXISTS written");
		jdbc.execute("CREATE TABLE written (id integer)");
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> context.getBean(LockTemplate.class)
			.run("key", () -> transaction.executeWithoutResult((status) -> {
				jdbc.update("INSERT INTO written VALUES (1)");
				jdbc.update("UPDATE holdfast_lock SET epoch = epoch + 1, owner = NULL");
			})));
		assertThat(jdbc.queryForObject("SELECT count(*) FROM written", Integer.class)).isZero();
	}

	private static void replaceListeners(ConfigurableTransactionManager manager) {
		manager.setTransactionExecutionListeners(List.of(new TransactionExecutionListener() {
		}));
	}

	static class Metrics {

		Metrics(ConfigurableTransactionManager manager) {
			replaceListeners(manager);
		}

	}

}
