package io.github.holdfast.sample.wms;

import org.junit.jupiter.api.Tag;

import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestDatabase;

@ActiveProfiles("postgres")
@DirtiesContext
@Tag("long")
class PostgresWarehouseTests extends WarehouseTests {

	@DynamicPropertySource
	static void dataSource(DynamicPropertyRegistry registry) {
		DatabaseAccess database = TestDatabase.POSTGRESQL.newDatabase();
		registry.add("spring.datasource.url", database::url);
		registry.add("spring.datasource.username", database::user);
	}

}
