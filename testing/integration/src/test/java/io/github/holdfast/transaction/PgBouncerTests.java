package io.github.holdfast.transaction;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIf;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;

import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.PgBouncer;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.testsupport.Threads;

import static org.assertj.core.api.Assertions.assertThat;

/** Two nodes behind PgBouncer, whose sessions change with each transaction. */
@Tag("long")
@EnabledIf(value = "io.github.holdfast.testsupport.PgBouncer#isInstalled",
		disabledReason = "pgbouncer is not installed")
@Timeout(180)
class PgBouncerTests {

	private static final int CALLS = 400;

	@Test
	void transactionsLockTheirRows() {
		assertThat(sold(true)).isEqualTo(CALLS);
	}

	@Test
	void leasesLockTheirRows() {
		assertThat(sold(true, "holdfast.jdbc.mode=lease")).isEqualTo(CALLS);
	}

	@Test
	void withoutLocksPiecesAreSoldTwice() {
		assertThat(sold(false, "holdfast.enabled=false")).isLessThan(CALLS);
	}

	/** How many pieces are gone after that number of calls. */
	private static int sold(boolean locked, String... properties) {
		DatabaseAccess direct = TestDatabase.POSTGRESQL.newDatabase();
		AtomicInteger sold = new AtomicInteger();
		try (PgBouncer bouncer = PgBouncer.start(direct, 6)) {
			ApplicationContextRunner application = LockedApplication.jdbc(bouncer.access(direct))
				.withUserConfiguration(RecordingDataSource.Beans.class)
				.withPropertyValues(RecordingDataSource.GUARDED)
				.withBean(LockedShop.class)
				.withPropertyValues("holdfast.wait-time=60s")
				.withPropertyValues(properties);
			application.run((first) -> {
				JdbcTemplate jdbc = first.getBean(JdbcTemplate.class);
				LockedShop.createTables(jdbc);
				application
					.run((second) -> sell(List.of(first.getBean(LockedShop.class), second.getBean(LockedShop.class))));
				if (locked) {
					assertThat(jdbc.queryForObject("SELECT count(*) FROM holdfast_lock", Integer.class)).isOne();
				}
				sold.set(100 - first.getBean(LockedShop.class).quantity());
			});
		}
		return sold.get();
	}

	private static void sell(List<LockedShop> shops) throws Exception {
		AtomicInteger next = new AtomicInteger();
		Threads.together(16, (thread) -> {
			while (next.getAndIncrement() < CALLS) {
				shops.get(thread % 2).take(Thread::yield);
			}
			return null;
		});
	}

}
