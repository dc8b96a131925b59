package io.github.holdfast.jobs;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.jobrunr.jobs.states.StateName;
import org.jobrunr.scheduling.JobScheduler;
import org.jobrunr.server.BackgroundJobServer;
import org.jobrunr.spring.autoconfigure.JobRunrAutoConfiguration;
import org.jobrunr.spring.autoconfigure.storage.JobRunrSqlStorageAutoConfiguration;
import org.jobrunr.storage.StorageProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * JobRunr with its jobs in the database: what it takes for done. It looks for jobs every
 * five seconds, which is its minimum.
 */
@Tag("long")
@Timeout(120)
class JobRunrTests {

	private static final UUID JOB = UUID.randomUUID();

	private final DatabaseAccess database = TestDatabase.H2.newDatabase();

	private final ApplicationContextRunner node = Stock.node(this.database, new Pause())
		.withConfiguration(AutoConfigurations.of(JacksonAutoConfiguration.class, JobRunrAutoConfiguration.class,
				JobRunrSqlStorageAutoConfiguration.class))
		.withPropertyValues("jobrunr.background-job-server.enabled=true",
				"jobrunr.background-job-server.poll-interval-in-seconds=5",
				"jobrunr.background-job-server.worker-count=2", "jobrunr.dashboard.enabled=false",
				"jobrunr.jobs.retry-back-off-time-seed=1", "jobrunr.miscellaneous.allow-anonymous-data-usage=false");

	@Test
	void skippedJobHasSucceededAlthoughNothingWasDone() {
		this.node.run((context) -> {
			context.getBean(LockTemplate.class).run("stock", () -> {
				context.getBean(JobScheduler.class).<Stock>enqueue(JOB, (stock) -> stock.takeOrSkip());
				context.getBean(BackgroundJobServer.class).start();
				await("success").until(() -> jobs(context, StateName.SUCCEEDED) == 1);
			});
			assertThat(context.getBean(Stock.class).left()).isEqualTo(Stock.PIECES);
		});
	}

	@Test
	void refusedJobIsRepeated() {
		this.node.run((context) -> {
			context.getBean(LockTemplate.class).run("stock", () -> {
				context.getBean(JobScheduler.class).<Stock>enqueue(JOB, (stock) -> stock.take());
				context.getBean(BackgroundJobServer.class).start();
				await("refusal").until(() -> context.getBean(StorageProvider.class)
					.getJobById(JOB)
					.getJobStates()
					.stream()
					.anyMatch((state) -> state.getName() == StateName.FAILED));
			});
			await("success").until(() -> jobs(context, StateName.SUCCEEDED) == 1);
			assertThat(context.getBean(Stock.class).left()).isEqualTo(Stock.PIECES - 1);
		});
	}

	@Test
	void oneNodeTakesEachJob() {
		List<String> jobs = IntStream.range(0, 20).mapToObj(Integer::toString).toList();
		this.node.run((first) -> this.node.run((second) -> {
			first.getBean(BackgroundJobServer.class).start();
			// which two servers may not do at the same time
			await("the first start on this database")
				.until(() -> first.getBean(StorageProvider.class).getMetadata("database_version", "cluster") != null);
			second.getBean(BackgroundJobServer.class).start();
			first.getBean(JobScheduler.class).<Stock, String>enqueue(jobs.stream(), (stock, job) -> stock.visit(job));
			await("jobs").until(() -> jobs(first, StateName.SUCCEEDED) == jobs.size());
			assertThat(first.getBean(Stock.class).visitors()).containsExactlyInAnyOrderElementsOf(jobs);
		}));
	}

	private static ConditionFactory await(String what) {
		return Awaitility.await(what).atMost(Duration.ofMinutes(1));
	}

	private static long jobs(ApplicationContext context, StateName state) {
		return context.getBean(StorageProvider.class).countJobs(state);
	}

}
