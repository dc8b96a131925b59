package io.github.holdfast.transaction;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.JdbcTemplate;

import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.LeaseCalls;
import io.github.holdfast.testsupport.TestBackend;

import static org.assertj.core.api.Assertions.assertThat;

/** The changes of a locked method are there for everybody before its lock is free. */
class CommitVisibilityTests {

	@ParameterizedTest
	@EnumSource(TestBackend.class)
	void changesAreVisibleToAnotherConnectionWhenTheLockIsReleased(TestBackend backend) {
		DatabaseAccess access = backend.database().newDatabase();
		try (HikariDataSource observer = access.dataSource(1)) {
			List<Integer> seen = new CopyOnWriteArrayList<>();
			LeaseCalls calls = new LeaseCalls((call) -> {
				if (call.equals("release")) {
					seen.add(new JdbcTemplate(observer).queryForObject("SELECT quantity FROM stock WHERE sku = 'A'",
							Integer.class));
				}
			});
			backend.application(access)
				.withBean(LeaseCalls.class, () -> calls)
				.withBean(StockService.class)
				.run((context) -> context.getBean(StockService.class).take("A", () -> {
				}));
			assertThat(seen).containsExactly(99);
		}
	}

}
