package io.github.holdfast.format;

import java.time.Duration;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.jdbc.core.JdbcTemplate;

import io.github.holdfast.testsupport.ChildJvm;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Nodes of one application while its backend, or the prefix of its keys, is changed: each
 * of them is one step ahead of the other at most. They count in one row.
 */
@Timeout(240)
class BackendChangeTests {

	private static final Duration PATIENCE = Duration.ofSeconds(90);

	private static final int CALLS = 100;

	private final DatabaseAccess database = TestDatabase.POSTGRESQL.newDatabase();

	private final HikariDataSource pool = this.database.dataSource(2);

	private final JdbcTemplate jdbc = new JdbcTemplate(this.pool);

	@BeforeEach
	void createCounter() {
		this.jdbc.execute("CREATE TABLE counter (count INT NOT NULL)");
		this.jdbc.execute("CREATE TABLE committed (id SERIAL PRIMARY KEY, count INT NOT NULL, token BIGINT NOT NULL)");
		this.jdbc.execute("INSERT INTO counter VALUES (0)");
	}

	@AfterEach
	void close() {
		this.pool.close();
	}

	@ParameterizedTest
	@CsvSource({ "OLD, BOTH", "BOTH, NEW" })
	void nodesOfNeighbouringStepsExcludeEachOther(Step step, Step next) throws Exception {
		assertThat(count(step, next)).isEqualTo(2 * CALLS);
	}

	@Tag("long")
	@ParameterizedTest
	@CsvSource({ "BOTH, BOTH_NEW_FIRST", "OLD, BOTH_NEW_FIRST", "BOTH_NEW_FIRST, NEW", "OLD_PREFIX, BOTH_PREFIXES",
			"BOTH_PREFIXES, NEW_PREFIX", "BOTH_PREFIXES, BOTH_PREFIXES_NEW_FIRST" })
	void nodesOfOtherNeighbouringStepsExcludeEachOther(Step step, Step next) throws Exception {
		assertThat(count(step, next)).isEqualTo(2 * CALLS);
	}

	/** The control. */
	@Test
	void nodesThatSkipAStepLoseUpdates() throws Exception {
		assertThat(count(Step.OLD, Step.NEW)).isLessThan(2 * CALLS);
	}

	private int count(Step step, Step next) throws InterruptedException {
		try (ChildJvm one = node(step); ChildJvm other = node(next)) {
			one.await("VERSION ", PATIENCE);
			other.await("VERSION ", PATIENCE);
			one.send(Integer.toString(CALLS));
			other.send(Integer.toString(CALLS));
			assertThat(one.await("DONE ", PATIENCE)).isEqualTo("committed");
			assertThat(other.await("DONE ", PATIENCE)).isEqualTo("committed");
		}
		Integer count = this.jdbc.queryForObject("SELECT count FROM counter", Integer.class);
		assertThat(count).isNotNull();
		return count;
	}

	private ChildJvm node(Step step) {
		return ChildJvm.start(UpgradedNode.class,
				Stream
					.concat(Stream.of(this.database.url(), this.database.user(), this.database.password(),
							"holdfast.wait-time=60s", "holdfast.lease-time=10s", "holdfast.commit-guard=fence",
							"holdfast.fence.initialize-schema=always", "spring.data.redis.host=127.0.0.1",
							"spring.data.redis.port=" + RedisServer.shared().port()), Stream.of(step.properties))
					.toArray(String[]::new));
	}

	/**
	 * What is configured on a node.
	 */
	enum Step {

		OLD("holdfast.backend=jdbc"),

		BOTH("holdfast.backend=jdbc", "holdfast.migration.also-lock=redis"),

		BOTH_NEW_FIRST("holdfast.backend=redis", "holdfast.migration.also-lock=jdbc"),

		NEW("holdfast.backend=redis"),

		OLD_PREFIX("holdfast.backend=redis", "holdfast.key-prefix=old:"),

		BOTH_PREFIXES("holdfast.backend=redis", "holdfast.key-prefix=old:", "holdfast.migration.also-key-prefix=new:"),

		BOTH_PREFIXES_NEW_FIRST("holdfast.backend=redis", "holdfast.key-prefix=new:",
				"holdfast.migration.also-key-prefix=old:"),

		NEW_PREFIX("holdfast.backend=redis", "holdfast.key-prefix=new:");

		private final String[] properties;

		Step(String... properties) {
			this.properties = properties;
		}

	}

}
