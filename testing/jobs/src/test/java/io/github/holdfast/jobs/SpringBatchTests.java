package io.github.holdfast.jobs;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;

import com.zaxxer.hikari.HikariDataSource;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.batch.core.BatchStatus;
import org.springframework.batch.core.configuration.annotation.EnableBatchProcessing;
import org.springframework.batch.core.configuration.annotation.EnableJdbcJobRepository;
import org.springframework.batch.core.job.Job;
import org.springframework.batch.core.job.JobExecution;
import org.springframework.batch.core.job.JobExecutionException;
import org.springframework.batch.core.job.builder.JobBuilder;
import org.springframework.batch.core.job.parameters.JobParametersBuilder;
import org.springframework.batch.core.launch.JobExecutionAlreadyRunningException;
import org.springframework.batch.core.launch.JobOperator;
import org.springframework.batch.core.repository.JobRepository;
import org.springframework.batch.core.step.builder.StepBuilder;
import org.springframework.batch.core.step.tasklet.Tasklet;
import org.springframework.batch.infrastructure.repeat.RepeatStatus;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.TaskExecutor;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Spring Batch with its job repository in the database.
 */
@Tag("long")
@Timeout(120)
class SpringBatchTests {

	private static final Executor THREADS = (task) -> new Thread(task).start();

	private final DatabaseAccess database = TestDatabase.H2.newDatabase();

	private final Pause pause = new Pause();

	private final ApplicationContextRunner node = Stock.node(this.database, this.pause)
		.withUserConfiguration(Jobs.class)
		.withBean(Launcher.class);

	@BeforeEach
	void createTables() {
		try (HikariDataSource dataSource = this.database.dataSource(1)) {
			DatabaseAccess.runScript(dataSource, "org/springframework/batch/core/schema-h2.sql");
		}
	}

	/**
	 * Step executions of one number share their scope in a JVM, whatever their database.
	 */
	@AfterEach
	void endPause() {
		this.pause.end();
	}

	@Test
	void lockAroundALaunchLastsForTheJob() {
		this.node.run((first) -> this.node.run((second) -> {
			this.pause.begin();
			CompletableFuture<JobExecution> job = launchAside(first.getBean(Launcher.class), "1");
			this.pause.awaitBegin();
			Launcher launcher = second.getBean(Launcher.class);
			assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> launcher.launch("2"));
			this.pause.end();
			assertThat(job.join().getStatus()).isEqualTo(BatchStatus.COMPLETED);
			assertThat(launcher.launch("2").getStatus()).isEqualTo(BatchStatus.COMPLETED);
			assertThat(second.getBean(Stock.class).left()).isEqualTo(Stock.PIECES - 2);
		}));
	}

	@Test
	void jobsWithOtherParametersLoseAnUpdateWithoutTheLock() {
		ApplicationContextRunner unlocked = this.node.withPropertyValues("holdfast.enabled=false");
		unlocked.run((first) -> unlocked.run((second) -> {
			this.pause.begin();
			CompletableFuture<JobExecution> job = launchAside(first.getBean(Launcher.class), "1");
			this.pause.awaitBegin();
			Launcher launcher = second.getBean(Launcher.class);
			assertThatExceptionOfType(JobExecutionAlreadyRunningException.class).isThrownBy(() -> launcher.launch("1"));
			assertThat(launcher.launch("2").getStatus()).isEqualTo(BatchStatus.COMPLETED);
			this.pause.end();
			assertThat(job.join().getStatus()).isEqualTo(BatchStatus.COMPLETED);
			assertThat(second.getBean(Stock.class).left()).as("of two").isEqualTo(Stock.PIECES - 1);
		}));
	}

	@Test
	void lockAroundALaunchIsFreeWhileTheJobRunsOnAnotherThread() {
		ApplicationContextRunner asynchronous = this.node.withBean("taskExecutor", TaskExecutor.class,
				SimpleAsyncTaskExecutor::new);
		asynchronous.run((context) -> {
			Launcher launcher = context.getBean(Launcher.class);
			this.pause.begin();
			JobExecution job = launcher.launch("1");
			this.pause.awaitBegin();
			JobExecution other = launcher.launch("2");
			await().until(() -> status(context.getBean(JobRepository.class), other) == BatchStatus.COMPLETED);
			assertThat(status(context.getBean(JobRepository.class), job)).isEqualTo(BatchStatus.STARTED);
			this.pause.end();
			await().until(() -> status(context.getBean(JobRepository.class), job) == BatchStatus.COMPLETED);
		});
	}

	@Test
	void launchFromATransactionIsRefusedByBatch() {
		this.node.run((context) -> assertThatExceptionOfType(IllegalStateException.class)
			.isThrownBy(() -> context.getBean(Launcher.class).launchInTransaction())
			.withMessageStartingWith("Existing transaction detected in JobRepository"));
	}

	@Test
	void lockedMethodIsRefusedInTheTransactionOfAChunk() {
		this.node.run((context) -> {
			JobExecution execution = context.getBean(Launcher.class).launchLockedStep();
			assertThat(execution.getAllFailureExceptions()).singleElement()
				.asInstanceOf(InstanceOfAssertFactories.THROWABLE)
				.hasMessageStartingWith("Lock 'stock' (Stock.take) is called inside a running transaction");
			assertThat(context.getBean(Stock.class).left()).isEqualTo(Stock.PIECES);
		});
	}

	@Test
	void executionStaysStartedIfTheLockIsLostAndCanBeRecovered() {
		this.node.run((context) -> {
			Launcher launcher = context.getBean(Launcher.class);
			this.pause.begin();
			CompletableFuture<JobExecution> job = launchAside(launcher, "1");
			this.pause.awaitBegin();
			context.getBean(JdbcTemplate.class).update("DELETE FROM holdfast_lock");
			this.pause.end();
			assertThatExceptionOfType(CompletionException.class).isThrownBy(job::join)
				.withCauseInstanceOf(LockLostException.class);
			JobExecution execution = context.getBean(JobRepository.class).getJobExecution(1);
			assertThat(execution.getStatus()).isEqualTo(BatchStatus.STARTED);
			assertThat(context.getBean(Stock.class).left()).isEqualTo(Stock.PIECES);
			assertThatExceptionOfType(JobExecutionAlreadyRunningException.class).isThrownBy(() -> launcher.launch("1"));
			context.getBean(JobOperator.class).recover(execution);
			assertThat(launcher.launch("1").getStatus()).isEqualTo(BatchStatus.COMPLETED);
			assertThat(context.getBean(Stock.class).left()).isEqualTo(Stock.PIECES - 1);
		});
	}

	private static CompletableFuture<JobExecution> launchAside(Launcher launcher, String day) {
		return CompletableFuture.supplyAsync(() -> {
			try {
				return launcher.launch(day);
			}
			catch (JobExecutionException ex) {
				throw new IllegalStateException(ex);
			}
		}, THREADS);
	}

	private static BatchStatus status(JobRepository repository, JobExecution execution) {
		return repository.getJobExecution(execution.getId()).getStatus();
	}

	static class Launcher {

		private final JobOperator operator;

		private final Job job;

		private final Job lockedStep;

		Launcher(JobOperator operator, Job job, Job lockedStep) {
			this.operator = operator;
			this.job = job;
			this.lockedStep = lockedStep;
		}

		@DistributedLock(key = "'job'", waitTime = "0s")
		public JobExecution launch(String day) throws JobExecutionException {
			return start(this.job, day);
		}

		@DistributedLock(key = "'job'", waitTime = "0s")
		@Transactional
		public void launchInTransaction() throws JobExecutionException {
			start(this.job, "1");
		}

		public JobExecution launchLockedStep() throws JobExecutionException {
			return start(this.lockedStep, "1");
		}

		private JobExecution start(Job job, String day) throws JobExecutionException {
			return this.operator.start(job, new JobParametersBuilder().addString("day", day).toJobParameters());
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableBatchProcessing
	@EnableJdbcJobRepository
	static class Jobs {

		@Bean
		Job job(JobRepository repository, PlatformTransactionManager manager, Stock stock) {
			return job("job", repository, manager, stock::takeOne);
		}

		@Bean
		Job lockedStep(JobRepository repository, PlatformTransactionManager manager, Stock stock) {
			return job("lockedStep", repository, manager, stock::take);
		}

		private static Job job(String name, JobRepository repository, PlatformTransactionManager manager,
				Runnable work) {
			Tasklet tasklet = (contribution, chunk) -> {
				work.run();
				return RepeatStatus.FINISHED;
			};
			return new JobBuilder(name, repository)
				.start(new StepBuilder("step", repository).tasklet(tasklet, manager).build())
				.build();
		}

	}

}
