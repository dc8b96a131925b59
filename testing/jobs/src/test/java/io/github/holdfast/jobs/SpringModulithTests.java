package io.github.holdfast.jobs;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import com.github.kagkarlsson.scheduler.boot.autoconfigure.DbSchedulerAutoConfiguration;
import org.jobrunr.spring.autoconfigure.JobRunrAutoConfiguration;
import org.jobrunr.spring.autoconfigure.storage.JobRunrSqlStorageAutoConfiguration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.modulith.events.ApplicationModuleListener;
import org.springframework.modulith.events.IncompleteEventPublications;
import org.springframework.modulith.events.ResubmissionOptions;
import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.DistributedLock.OnBusy;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Publications of Spring Modulith, which are rows of the business transaction, and their
 * listeners, which run on threads of their own.
 */
@Tag("long")
@Timeout(120)
class SpringModulithTests {

	private final DatabaseAccess database = TestDatabase.H2.newDatabase();

	private final Pause pause = new Pause();

	private final ApplicationContextRunner node = Stock.node(this.database, this.pause)
		.withUserConfiguration(Application.class)
		.withBean(Orders.class)
		.withBean(Resubmission.class)
		.withPropertyValues("spring.modulith.events.jdbc.schema-initialization.enabled=true");

	private final ApplicationContextRunner listening = this.node.withBean(Listener.class);

	@ParameterizedTest
	@ValueSource(strings = { "transaction", "lease" })
	void listenerHoldsItsLockUntilItsCommit(String mode) {
		ApplicationContextRunner nodes = this.listening.withPropertyValues("holdfast.jdbc.mode=" + mode);
		nodes.run((first) -> nodes.run((second) -> {
			this.pause.begin();
			first.getBean(Orders.class).confirm();
			this.pause.awaitBegin();
			assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(second.getBean(Stock.class)::take);
			this.pause.end();
			await().until(() -> incomplete(first) == 0);
			await("the release").ignoreExceptionsInstanceOf(LockNotAcquiredException.class)
				.untilAsserted(second.getBean(Stock.class)::take);
			assertThat(second.getBean(Stock.class).left()).isEqualTo(Stock.PIECES - 2);
		}));
	}

	@Test
	void listenersLoseAnUpdateWithoutTheLock() {
		ApplicationContextRunner unlocked = this.listening.withPropertyValues("holdfast.enabled=false");
		unlocked.run((first) -> unlocked.run((second) -> {
			this.pause.begin();
			first.getBean(Orders.class).confirm();
			this.pause.awaitBegin();
			second.getBean(Orders.class).confirm();
			await().until(() -> incomplete(first) == 1);
			this.pause.end();
			await().until(() -> incomplete(first) == 0);
			assertThat(first.getBean(Stock.class).left()).as("of two").isEqualTo(Stock.PIECES - 1);
		}));
	}

	@Test
	void refusedListenerIsCalledAgainByAResubmission() {
		this.listening.run((first) -> this.listening.run((second) -> {
			refuse(first);
			second.getBean(Resubmission.class).resubmit();
			await().until(() -> incomplete(first) == 0);
			assertThat(first.getBean(Stock.class).left()).isEqualTo(Stock.PIECES - 1);
		}));
	}

	@Test
	void publicationIsCompletedAlthoughItsListenerWasSkipped() {
		ApplicationContextRunner skipping = this.node.withBean(SkippingListener.class);
		skipping.run((first) -> skipping.run((second) -> {
			second.getBean(LockTemplate.class).run("stock", () -> {
				first.getBean(Orders.class).confirm();
				await().until(() -> incomplete(first) == 0);
			});
			assertThat(first.getBean(Stock.class).left()).isEqualTo(Stock.PIECES);
		}));
	}

	@Test
	void lockOfAResubmissionIsFreeWhileItsListenersWork() {
		this.listening.run((first) -> this.listening.run((second) -> {
			refuse(first);
			this.pause.begin();
			first.getBean(Resubmission.class).resubmit();
			this.pause.awaitBegin();
			List<Map<String, Object>> resubmitted = attempts(first);
			second.getBean(Resubmission.class).resubmit();
			assertThat(attempts(first)).as("nothing is left for the other node").isEqualTo(resubmitted);
			this.pause.end();
			await().until(() -> incomplete(first) == 0);
			assertThat(first.getBean(Stock.class).left()).isEqualTo(Stock.PIECES - 1);
		}));
	}

	/**
	 * One has read what has failed, and marks it as its own when the listener that the
	 * other one has called is at work.
	 */
	@Test
	void resubmissionsThatMeetCallAListenerTwiceWithoutTheLock() {
		this.listening.run(SpringModulithTests::refuse);
		ApplicationContextRunner unlocked = this.listening.withPropertyValues("holdfast.enabled=false");
		unlocked.run((first) -> unlocked.run((second) -> {
			this.pause.begin();
			publications(second)
				.resubmitIncompletePublications(ResubmissionOptions.defaults().withFilter((publication) -> {
					first.getBean(Resubmission.class).resubmit();
					this.pause.awaitBegin();
					return true;
				}));
			await().until(() -> second.getBean(Stock.class).calls() == 1);
			assertThat(first.getBean(Stock.class).calls()).as("at the same time").isOne();
			this.pause.end();
			await().until(() -> incomplete(first) == 0);
		}));
	}

	@Test
	void resubmissionByAgeCallsAListenerThatIsAtWorkAgain() {
		ApplicationContextRunner unlocked = this.listening.withPropertyValues("holdfast.enabled=false");
		unlocked.run((first) -> unlocked.run((second) -> {
			this.pause.begin();
			first.getBean(Orders.class).confirm();
			this.pause.awaitBegin();
			publications(second).resubmitIncompletePublicationsOlderThan(Duration.ZERO);
			await().until(() -> second.getBean(Stock.class).calls() == 1);
			assertThat(first.getBean(Stock.class).calls()).as("at the same time").isOne();
			this.pause.end();
			await().until(() -> incomplete(first) == 0);
		}));
	}

	/**
	 * Leaves a publication whose listener could not have its lock.
	 */
	private static void refuse(ApplicationContext context) {
		context.getBean(LockTemplate.class).run("stock", () -> {
			context.getBean(Orders.class).confirm();
			await().until(() -> count(context, "status = 'FAILED'") == 1);
		});
	}

	private static IncompleteEventPublications publications(ApplicationContext context) {
		return context.getBean(IncompleteEventPublications.class);
	}

	private static List<Map<String, Object>> attempts(ApplicationContext context) {
		return context.getBean(JdbcTemplate.class)
			.queryForList("SELECT completion_attempts, last_resubmission_date FROM event_publication");
	}

	private static int incomplete(ApplicationContext context) {
		return count(context, "completion_date IS NULL");
	}

	private static int count(ApplicationContext context, String condition) {
		return context.getBean(JdbcTemplate.class)
			.queryForObject("SELECT count(*) FROM event_publication WHERE " + condition, Integer.class);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(exclude = { DbSchedulerAutoConfiguration.class, JobRunrAutoConfiguration.class,
			JobRunrSqlStorageAutoConfiguration.class })
	static class Application {

	}

	record Confirmed(String sku) {
	}

	static class Orders {

		private final ApplicationEventPublisher events;

		Orders(ApplicationEventPublisher events) {
			this.events = events;
		}

		@Transactional
		public void confirm() {
			this.events.publishEvent(new Confirmed("A"));
		}

	}

	static class Resubmission {

		private final IncompleteEventPublications publications;

		Resubmission(IncompleteEventPublications publications) {
			this.publications = publications;
		}

		@DistributedLock(key = "'resubmission'", waitTime = "0s")
		public void resubmit() {
			this.publications.resubmitIncompletePublications(ResubmissionOptions.defaults());
		}

	}

	static class Listener {

		private final Stock stock;

		Listener(Stock stock) {
			this.stock = stock;
		}

		@ApplicationModuleListener
		@DistributedLock(key = "'stock'", waitTime = "0s")
		public void on(Confirmed event) {
			this.stock.takeOne();
		}

	}

	static class SkippingListener {

		private final Stock stock;

		SkippingListener(Stock stock) {
			this.stock = stock;
		}

		@ApplicationModuleListener
		@DistributedLock(key = "'stock'", waitTime = "0s", onBusy = OnBusy.SKIP)
		public void on(Confirmed event) {
			this.stock.takeOne();
		}

	}

}
