package io.github.holdfast.sample.wms.report;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.UUID;

import io.github.holdfast.sample.wms.WmsApplication;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.task.ThreadPoolTaskSchedulerCustomizer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.config.ScheduledTaskHolder;

import static org.assertj.core.api.Assertions.assertThat;

/** The hourly report on two nodes whose clocks differ. */
class StockReportScheduleTests {

	@ParameterizedTest
	@CsvSource({ "30m, 1", "0s, 2" })
	void nodeWithLateClockTakesTheReportAgainOnlyWithoutMinHoldTime(String minHoldTime, int reports) {
		String url = "--spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";
		try (ConfigurableApplicationContext first = start(url, minHoldTime)) {
			awaitHour(first);
			assertThat(first.getBean(StockReportMapper.class).list()).hasSize(1);
			try (ConfigurableApplicationContext late = start(url, minHoldTime)) {
				awaitHour(late);
				assertThat(late.getBean(StockReportMapper.class).list()).hasSize(reports);
			}
		}
	}

	private static ConfigurableApplicationContext start(String url, String minHoldTime) {
		return new SpringApplicationBuilder(WmsApplication.class, ClockConfiguration.class).web(WebApplicationType.NONE)
			.run(url, "--wms.stock-report.cron=0 0 * * * *", "--wms.stock-report.min-hold-time=" + minHoldTime);
	}

	/** Waits until the job has run, or was skipped, and is about to run in an hour. */
	private static void awaitHour(ConfigurableApplicationContext node) {
		ScheduledTaskHolder holder = node.getBean(ScheduledTaskHolder.class);
		Instant later = Instant.now().plus(Duration.ofMinutes(30));
		Awaitility.await()
			.atMost(Duration.ofMinutes(1))
			.until(() -> holder.getScheduledTasks().iterator().next().nextExecution(),
					(next) -> next != null && next.isAfter(later));
	}

	@Configuration(proxyBeanMethods = false)
	static class ClockConfiguration {

		@Bean
		ThreadPoolTaskSchedulerCustomizer clock() {
			return (scheduler) -> scheduler.setClock(new HourClock());
		}

	}

	/** Shows a moment before the full hour when it is looked at for the first time. */
	private static final class HourClock extends Clock {

		private @Nullable Clock clock;

		@Override
		public synchronized Instant instant() {
			if (this.clock == null) {
				ZonedDateTime now = ZonedDateTime.now();
				ZonedDateTime first = now.truncatedTo(ChronoUnit.HOURS).plusHours(1).minusNanos(300_000_000);
				this.clock = Clock.offset(systemDefaultZone(), Duration.between(now, first));
				return first.toInstant();
			}
			return this.clock.instant();
		}

		@Override
		public ZoneId getZone() {
			return ZoneId.systemDefault();
		}

		@Override
		public Clock withZone(ZoneId zone) {
			throw new UnsupportedOperationException();
		}

	}

}
