package io.github.holdfast.sample.wms;

import java.io.IOException;
import java.time.Duration;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.jspecify.annotations.Nullable;

import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/**
 * The warehouse service on PostgreSQL.
 */
@ActiveProfiles("postgres")
@DirtiesContext
class PostgresWarehouseTests extends AbstractWarehouseTests {

	private static @Nullable EmbeddedPostgres postgres;

	@BeforeAll
	static void start() throws IOException {
		postgres = EmbeddedPostgres.builder().setPGStartupWait(Duration.ofSeconds(60)).start();
	}

	@AfterAll
	static void stop() throws IOException {
		if (postgres != null) {
			postgres.close();
		}
	}

	@DynamicPropertySource
	static void dataSource(DynamicPropertyRegistry registry) {
		EmbeddedPostgres server = postgres;
		if (server != null) {
			registry.add("spring.datasource.url", () -> server.getJdbcUrl("postgres", "postgres"));
			registry.add("spring.datasource.username", () -> "postgres");
		}
	}

}
