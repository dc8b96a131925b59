package io.github.holdfast.migration;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

import javax.sql.DataSource;

import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.DistributedLock.OnBusy;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * The way from ShedLock to Holdfast, both with tables in one database: before, during and
 * after, in one application.
 */
@Timeout(120)
class ShedLockMigrationTests {

	private final ApplicationContextRunner node = LockedApplication.jdbc(TestDatabase.POSTGRESQL.newDatabase())
		.withUserConfiguration(Jobs.class)
		.withPropertyValues("write-off.at-most=10m");

	@Test
	void jobRunsOnTwoNodesWhenLockAtMostForEnds() {
		this.node.withPropertyValues("write-off.at-most=1s").run((context) -> this.node.run((otherContext) -> {
			Stock.Pause pause = context.getBean(Stock.class).pauseNext();
			CompletableFuture<Void> paused = CompletableFuture.runAsync(() -> context.getBean(Before.class).writeOff());
			pause.awaitBegin();
			await().until(() -> isFree(context));
			otherContext.getBean(Before.class).writeOff();
			assertThat(available(context)).isEqualTo(19);
			pause.end();
			paused.get();
			assertThat(available(context)).as("20 - 1 - 1 would be 18").isEqualTo(19);
		}));
	}

	@Test
	void lateJobFreesTheLockOfItsSuccessorOnTheSameHost() {
		this.node.withPropertyValues("write-off.at-most=1s").run((context) -> this.node.run((otherContext) -> {
			Stock.Pause late = context.getBean(Stock.class).pauseNext();
			CompletableFuture<Void> first = CompletableFuture.runAsync(() -> context.getBean(Before.class).writeOff());
			late.awaitBegin();
			await().until(() -> isFree(context));
			Stock.Pause successor = otherContext.getBean(Stock.class).pauseNext();
			CompletableFuture<Void> second = CompletableFuture
				.runAsync(() -> otherContext.getBean(Before.class).writeOff());
			successor.awaitBegin();
			assertThat(isFree(context)).isFalse();
			late.end();
			first.get();
			assertThat(isFree(context)).as("while the second one runs").isTrue();
			successor.end();
			second.get();
		}));
	}

	@Test
	void orderOfTheConfigurationsTellsWhetherShedLockUnlocksBeforeTheCommit() {
		assertThat(isFreeBeforeTheCommit(this.node)).isFalse();
		assertThat(isFreeBeforeTheCommit(LockedApplication.jdbc(TestDatabase.POSTGRESQL.newDatabase())
			.withUserConfiguration(TransactionsFirst.class, Jobs.class)
			.withPropertyValues("write-off.at-most=10m"))).isTrue();
	}

	private static boolean isFreeBeforeTheCommit(ApplicationContextRunner node) {
		AtomicBoolean free = new AtomicBoolean();
		node.run((context) -> {
			Stock.Pause pause = context.getBean(Stock.class).pauseNextCommit();
			CompletableFuture<Void> paused = CompletableFuture.runAsync(() -> context.getBean(Before.class).writeOff());
			pause.awaitBegin();
			free.set(isFree(context));
			pause.end();
			paused.get();
		});
		return free.get();
	}

	@Test
	void holdfastSkipsTheJobWhileItRunsAndInItsMinHoldTime() {
		this.node.run((context) -> this.node.run((otherContext) -> {
			Stock.Pause pause = context.getBean(Stock.class).pauseNext();
			CompletableFuture<Void> paused = CompletableFuture.runAsync(() -> context.getBean(After.class).writeOff());
			pause.awaitBegin();
			otherContext.getBean(After.class).writeOff();
			pause.end();
			paused.get();
			otherContext.getBean(After.class).writeOff();
			assertThat(otherContext.getBean(Stock.class).reads()).isZero();
			assertThat(available(context)).isEqualTo(19);
		}));
	}

	@Test
	void bothLocksAreHeldForOneRelease() {
		this.node.run((context) -> this.node.run((otherContext) -> {
			assertThat(context).hasSingleBean(LockProvider.class).hasBean("holdfastLockTemplate");
			Stock.Pause pause = context.getBean(Stock.class).pauseNext();
			CompletableFuture<Void> both = CompletableFuture.runAsync(() -> context.getBean(During.class).writeOff());
			pause.awaitBegin();
			otherContext.getBean(Before.class).writeOff();
			otherContext.getBean(After.class).writeOff();
			assertThatThrownBy(
					() -> otherContext.getBean(LockTemplate.class).withWaitTime(Duration.ZERO).acquire("write-off"))
				.isInstanceOf(LockNotAcquiredException.class);
			pause.end();
			both.get();
			otherContext.getBean(Before.class).writeOff();
			otherContext.getBean(After.class).writeOff();
			assertThat(otherContext.getBean(Stock.class).reads()).isZero();
			assertThat(available(context)).isEqualTo(19);
		}));
	}

	private static boolean isFree(ApplicationContext context) {
		return JdbcClient.create(context.getBean(DataSource.class))
			.sql("SELECT lock_until <= timezone('utc', CURRENT_TIMESTAMP) FROM shedlock")
			.query(Boolean.class)
			.single();
	}

	private static int available(ApplicationContext context) {
		return context.getBean(Stock.class).available();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableSchedulerLock(defaultLockAtMostFor = "10m")
	@Import({ Stock.class, Before.class, During.class, After.class })
	static class Jobs {

		@Bean
		LockProvider lockProvider(DataSource dataSource) {
			JdbcTemplate jdbc = new JdbcTemplate(dataSource);
			jdbc.execute("CREATE TABLE IF NOT EXISTS shedlock (name VARCHAR(64) PRIMARY KEY, "
					+ "lock_until TIMESTAMP NOT NULL, locked_at TIMESTAMP NOT NULL, locked_by VARCHAR(255) NOT NULL)");
			return new JdbcTemplateLockProvider(
					JdbcTemplateLockProvider.Configuration.builder().withJdbcTemplate(jdbc).usingDbTime().build());
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	static class TransactionsFirst {

	}

	static class Before {

		private final Stock stock;

		Before(Stock stock) {
			this.stock = stock;
		}

		@SchedulerLock(name = "write-off", lockAtMostFor = "${write-off.at-most}")
		@Transactional
		public void writeOff() {
			this.stock.deduct("A", 1);
		}

	}

	static class During {

		private final Stock stock;

		During(Stock stock) {
			this.stock = stock;
		}

		@DistributedLock(key = "'write-off'", waitTime = "0s", onBusy = OnBusy.SKIP, minHoldTime = "1m")
		@SchedulerLock(name = "write-off", lockAtMostFor = "10m", lockAtLeastFor = "1m")
		@Transactional
		public void writeOff() {
			this.stock.deduct("A", 1);
		}

	}

	static class After {

		private final Stock stock;

		After(Stock stock) {
			this.stock = stock;
		}

		@DistributedLock(key = "'write-off'", waitTime = "0s", onBusy = OnBusy.SKIP, minHoldTime = "1m")
		@Transactional
		public void writeOff() {
			this.stock.deduct("A", 1);
		}

	}

}
