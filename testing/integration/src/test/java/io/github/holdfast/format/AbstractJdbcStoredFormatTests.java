package io.github.holdfast.format;

import java.nio.charset.StandardCharsets;

import org.junit.jupiter.api.Test;

import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;

import io.github.holdfast.LockLease;
import io.github.holdfast.fence.FenceTable;
import io.github.holdfast.fence.FencedLockBackend;
import io.github.holdfast.store.local.LocalLockBackend;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The tables of the recorded format, which this version uses as they are.
 */
abstract class AbstractJdbcStoredFormatTests extends AbstractStoredFormatTests {

	private final TestDatabase database;

	AbstractJdbcStoredFormatTests(TestDatabase database) {
		this.database = database;
	}

	@Override
	RecordedStore open() {
		return new RecordedStore.Jdbc(this.database);
	}

	@Test
	void leaseIsInstalledInTheFenceTableAsRecorded() throws Exception {
		try (RecordedStore.Jdbc store = new RecordedStore.Jdbc(this.database)) {
			FenceTable table = new FenceTable(store::dataSource, "source");
			FencedLockBackend backend = new FencedLockBackend(new LocalLockBackend(), table);
			LockLease first = backend.acquire(request("lock:written", "first-owner", "first holder"));
			assertThat(first).isNotNull();
			assertThat(first.release().toCompletableFuture().join()).isTrue();
			new JdbcTemplate(store.dataSource()).update("UPDATE holdfast_fence SET epoch = ?", RECORDED_EPOCH);
			LockLease lease = backend.acquire(request("lock:written", "written-owner", "written holder"));
			assertThat(lease).isNotNull();
			assertThat(lease.epoch()).isGreaterThan(RECORDED_EPOCH);
			assertThat(store.rows("holdfast_fence")).containsExactly(RecordedStore.read("fence-written.txt").strip());
			assertThat(lease.release().toCompletableFuture().join()).isTrue();
		}
	}

	@Test
	void scriptsCreateTheRecordedTables() throws Exception {
		for (String script : new String[] { "schema-", "fence-schema-" }) {
			String file = script + this.database.platform() + ".sql";
			assertThat(
					new ClassPathResource("io/github/holdfast/jdbc/" + file).getContentAsString(StandardCharsets.UTF_8)
						.replaceAll("(?m)^--.*\\R", ""))
				.as("without its comments")
				.isEqualTo(RecordedStore.read(file));
		}
	}

}
