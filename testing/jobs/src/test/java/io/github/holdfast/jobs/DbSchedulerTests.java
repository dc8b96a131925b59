package io.github.holdfast.jobs;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;

import com.github.kagkarlsson.scheduler.SchedulerClient;
import com.github.kagkarlsson.scheduler.boot.autoconfigure.DbSchedulerAutoConfiguration;
import com.github.kagkarlsson.scheduler.task.FailureHandler;
import com.github.kagkarlsson.scheduler.task.TaskDescriptor;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;

import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * db-scheduler, whose executions are rows: what it takes for done.
 */
@Tag("long")
@Timeout(120)
class DbSchedulerTests {

	private final DatabaseAccess database = TestDatabase.H2.newDatabase();

	private final Pause pause = new Pause();

	private final ApplicationContextRunner node = Stock.node(this.database, this.pause)
		.withConfiguration(AutoConfigurations.of(DbSchedulerAutoConfiguration.class))
		.withUserConfiguration(TaskConfiguration.class)
		.withPropertyValues("db-scheduler.polling-interval=50ms", "db-scheduler.threads=2");

	@BeforeEach
	void createTable() {
		try (HikariDataSource dataSource = this.database.dataSource(1)) {
			new JdbcTemplate(dataSource).execute(
					"""
							CREATE TABLE scheduled_tasks (
								task_name VARCHAR(100), task_instance VARCHAR(100), task_data BLOB,
								execution_time TIMESTAMP WITH TIME ZONE NOT NULL, picked BOOLEAN NOT NULL, picked_by VARCHAR(50),
								last_success TIMESTAMP WITH TIME ZONE, last_failure TIMESTAMP WITH TIME ZONE,
								consecutive_failures INT, last_heartbeat TIMESTAMP WITH TIME ZONE, version BIGINT NOT NULL,
								priority SMALLINT, PRIMARY KEY (task_name, task_instance))""");
		}
	}

	@Test
	void skippedTaskIsCompletedAlthoughNothingWasDone() {
		this.node.run((context) -> {
			context.getBean(LockTemplate.class).run("stock", () -> {
				schedule(context, "skipping", "1");
				await().until(() -> isDone(context));
			});
			assertThat(context.getBean(Stock.class).left()).isEqualTo(Stock.PIECES);
		});
	}

	@Test
	void refusedTaskIsRepeated() {
		this.node.run((context) -> {
			context.getBean(LockTemplate.class).run("stock", () -> {
				schedule(context, "throwing", "1");
				await().until(() -> hasFailed(context));
			});
			await().until(() -> isDone(context));
			assertThat(context.getBean(Stock.class).left()).isEqualTo(Stock.PIECES - 1);
		});
	}

	@Test
	void oneNodePicksEachRow() {
		List<String> instances = IntStream.range(0, 20).mapToObj(Integer::toString).toList();
		this.node.run((first) -> this.node.run((second) -> {
			instances.forEach((instance) -> schedule(first, "visiting", instance));
			await().until(() -> isDone(first));
			assertThat(first.getBean(Stock.class).visitors()).containsExactlyInAnyOrderElementsOf(instances);
		}));
	}

	private static void schedule(ApplicationContext context, String name, String instance) {
		context.getBean(SchedulerClient.class)
			.scheduleIfNotExists(TaskDescriptor.of(name).instance(instance).scheduledTo(Instant.now()));
	}

	private static boolean isDone(ApplicationContext context) {
		return rows(context, "") == 0;
	}

	private static boolean hasFailed(ApplicationContext context) {
		return rows(context, "WHERE consecutive_failures > 0") > 0;
	}

	private static int rows(ApplicationContext context, String condition) {
		return context.getBean(JdbcTemplate.class)
			.queryForObject("SELECT count(*) FROM scheduled_tasks " + condition, Integer.class);
	}

	@Configuration(proxyBeanMethods = false)
	static class TaskConfiguration {

		@Bean
		OneTimeTask<Void> visiting(Stock stock) {
			return Tasks.oneTime("visiting").execute((instance, context) -> stock.visit(instance.getId()));
		}

		@Bean
		OneTimeTask<Void> skipping(Stock stock) {
			return Tasks.oneTime("skipping").execute((instance, context) -> stock.takeOrSkip());
		}

		@Bean
		OneTimeTask<Void> throwing(Stock stock) {
			return Tasks.oneTime("throwing")
				.onFailure(new FailureHandler.OnFailureRetryLater<>(Duration.ofMillis(50)))
				.execute((instance, context) -> stock.take());
		}

	}

}
