package io.github.holdfast.jobs;

import java.util.List;
import java.util.Properties;
import java.util.UUID;
import java.util.stream.IntStream;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.quartz.DisallowConcurrentExecution;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobDetail;
import org.quartz.JobExecutionContext;
import org.quartz.Scheduler;
import org.quartz.SchedulerException;
import org.quartz.Trigger;
import org.quartz.TriggerBuilder;
import org.quartz.impl.matchers.GroupMatcher;
import org.quartz.spi.JobFactory;
import org.quartz.spi.TriggerFiredBundle;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.AutowireCapableBeanFactory;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.quartz.SchedulerFactoryBean;
import org.springframework.scheduling.quartz.SpringBeanJobFactory;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Clustered Quartz: what it decides, and what it leaves to a lock.
 */
@Tag("long")
@Timeout(120)
class QuartzTests {

	private final DatabaseAccess database = TestDatabase.H2.newDatabase();

	private final Pause pause = new Pause();

	private final ApplicationContextRunner stock = Stock.node(this.database, this.pause);

	private final ApplicationContextRunner node = this.stock.withBean(SchedulerFactoryBean.class,
			() -> scheduler(new SpringBeanJobFactory()));

	/** Schedulers of one name share their connections in a JVM. */
	private HikariDataSource pool;

	@BeforeEach
	void createTables() {
		this.pool = this.database.dataSource(20);
		DatabaseAccess.runScript(this.pool, "org/quartz/impl/jdbcjobstore/tables_h2.sql");
	}

	@AfterEach
	void closePool() {
		this.pause.end();
		this.pool.close();
	}

	@Test
	void oneNodeFiresEachTrigger() {
		List<String> jobs = IntStream.range(0, 20).mapToObj((i) -> "job" + i).toList();
		this.node.run((first) -> this.node.run((second) -> {
			for (String job : jobs) {
				start(first, JobBuilder.newJob(Visit.class).withIdentity(job).build());
			}
			await().until(() -> isDone(first));
			assertThat(first.getBean(Stock.class).visitors()).containsExactlyInAnyOrderElementsOf(jobs);
		}));
	}

	@Test
	void jobAndRequestExcludeEachOther() {
		this.node.run((first) -> this.node.run((second) -> {
			this.pause.begin();
			start(first, JobBuilder.newJob(Take.class).build());
			this.pause.awaitBegin();
			for (ApplicationContext requested : List.of(first, second)) {
				assertThatExceptionOfType(LockNotAcquiredException.class)
					.isThrownBy(requested.getBean(Stock.class)::take);
			}
			this.pause.end();
			await().until(() -> isDone(first));
			first.getBean(Stock.class).take();
			second.getBean(Stock.class).take();
			assertThat(second.getBean(Stock.class).left()).isEqualTo(Stock.PIECES - 3);
		}));
	}

	@Test
	void jobAndRequestLoseAnUpdateWithoutTheLock() {
		ApplicationContextRunner unlocked = this.node.withPropertyValues("holdfast.enabled=false");
		unlocked.run((first) -> unlocked.run((second) -> {
			this.pause.begin();
			start(first, JobBuilder.newJob(Take.class).build());
			this.pause.awaitBegin();
			second.getBean(Stock.class).take();
			this.pause.end();
			await().until(() -> isDone(first));
			assertThat(second.getBean(Stock.class).left()).as("of two").isEqualTo(Stock.PIECES - 1);
		}));
	}

	@Test
	void disallowConcurrentExecutionIsForEachJobDetail() {
		this.node.withPropertyValues("holdfast.enabled=false").run((context) -> {
			JobDetail first = JobBuilder.newJob(TakeAlone.class).withIdentity("first").build();
			JobDetail second = JobBuilder.newJob(TakeAlone.class).withIdentity("second").build();
			this.pause.begin();
			start(context, first);
			this.pause.awaitBegin();
			Trigger again = TriggerBuilder.newTrigger().forJob(first).build();
			scheduler(context).scheduleJob(again);
			assertThat(scheduler(context).getTriggerState(again.getKey())).isEqualTo(Trigger.TriggerState.BLOCKED);
			start(context, second);
			await().until(() -> !scheduler(context).checkExists(second.getKey()));
			assertThat(context.getBean(Stock.class).calls()).as("at the same time").isEqualTo(2);
			this.pause.end();
			await().until(() -> isDone(context));
			assertThat(context.getBean(Stock.class).left()).as("of three").isEqualTo(Stock.PIECES - 2);
		});
	}

	/**
	 * As if the first node had been paused: its heartbeats are missing.
	 */
	@Test
	void jobThatRequestsRecoveryRunsTwiceAtTheSameTime() {
		ApplicationContextRunner unlocked = this.node.withPropertyValues("holdfast.enabled=false");
		unlocked.run((first) -> {
			this.pause.begin();
			start(first, JobBuilder.newJob(Take.class).requestRecovery().build());
			this.pause.awaitBegin();
			new JdbcTemplate(this.pool).update("UPDATE qrtz_scheduler_state SET last_checkin_time = 0");
			unlocked.run((second) -> {
				await().until(() -> second.getBean(Stock.class).calls() == 1);
				assertThat(first.getBean(Stock.class).calls()).isOne();
				this.pause.end();
			});
		});
	}

	@Test
	void jobThatSpringCreatesHasItsOwnLock() {
		this.node.run((context) -> assertThat(isLockedByItself(context)).isTrue());
	}

	@Test
	void jobThatIsOnlyAutowiredHasNone() {
		this.stock.withBean(SchedulerFactoryBean.class, () -> scheduler(new AutowiringJobFactory()))
			.run((context) -> assertThat(isLockedByItself(context)).isFalse());
	}

	private static boolean isLockedByItself(ApplicationContext context) throws SchedulerException {
		start(context, JobBuilder.newJob(SelfLocked.class).build());
		await().until(() -> isDone(context));
		return Boolean.parseBoolean(context.getBean(Stock.class).visitors().get(0));
	}

	private static boolean isDone(ApplicationContext context) throws SchedulerException {
		return scheduler(context).getJobKeys(GroupMatcher.anyGroup()).isEmpty();
	}

	private static void start(ApplicationContext context, JobDetail job) throws SchedulerException {
		scheduler(context).scheduleJob(job, TriggerBuilder.newTrigger().build());
	}

	private static Scheduler scheduler(ApplicationContext context) {
		return context.getBean(Scheduler.class);
	}

	private SchedulerFactoryBean scheduler(JobFactory jobs) {
		Properties properties = new Properties();
		properties.put("org.quartz.scheduler.instanceName", "jobs");
		properties.put("org.quartz.scheduler.instanceId", UUID.randomUUID().toString());
		properties.put("org.quartz.scheduler.idleWaitTime", "1000");
		properties.put("org.quartz.jobStore.isClustered", "true");
		// but for the one at the start
		properties.put("org.quartz.jobStore.clusterCheckinInterval", "3600000");
		properties.put("org.quartz.threadPool.threadCount", "2");
		SchedulerFactoryBean scheduler = new SchedulerFactoryBean();
		scheduler.setQuartzProperties(properties);
		scheduler.setDataSource(this.pool);
		scheduler.setJobFactory(jobs);
		return scheduler;
	}

	static class Visit implements Job {

		private final Stock stock;

		Visit(Stock stock) {
			this.stock = stock;
		}

		@Override
		public void execute(JobExecutionContext context) {
			this.stock.visit(context.getJobDetail().getKey().getName());
		}

	}

	static class Take implements Job {

		private final Stock stock;

		Take(Stock stock) {
			this.stock = stock;
		}

		@Override
		public void execute(JobExecutionContext context) {
			this.stock.take();
		}

	}

	static class SelfLocked implements Job {

		@Autowired
		private Stock stock;

		@Override
		@DistributedLock(key = "'job'")
		public void execute(JobExecutionContext context) {
			this.stock.visit(Boolean.toString(LockContext.current().isPresent()));
		}

	}

	/**
	 * As many applications have one, from the time before Spring's created beans.
	 */
	static class AutowiringJobFactory extends SpringBeanJobFactory {

		private AutowireCapableBeanFactory beans;

		@Override
		public void setApplicationContext(ApplicationContext context) {
			this.beans = context.getAutowireCapableBeanFactory();
		}

		@Override
		protected Object createJobInstance(TriggerFiredBundle bundle) throws Exception {
			Object job = super.createJobInstance(bundle);
			this.beans.autowireBean(job);
			return job;
		}

	}

	@DisallowConcurrentExecution
	static class TakeAlone extends Take {

		TakeAlone(Stock stock) {
			super(stock);
		}

	}

}
