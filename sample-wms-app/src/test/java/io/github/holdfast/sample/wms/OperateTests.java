package io.github.holdfast.sample.wms;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.resttestclient.autoconfigure.AutoConfigureRestTestClient;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.test.web.servlet.client.RestTestClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What an operator sees of the running service.
 */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { "spring.datasource.url=jdbc:h2:mem:operate;DB_CLOSE_DELAY=-1", "wms.stock-report.cron=-" })
@ActiveProfiles("operate")
@AutoConfigureRestTestClient
class OperateTests {

	@Autowired
	private RestTestClient client;

	@Test
	void serviceIsHealthyWithoutTheStoresThatItDoesNotUse() {
		this.client.get().uri("/actuator/health").exchange().expectBody().jsonPath("$.status").isEqualTo("UP");
	}

	@Test
	void metersCanBeScraped() {
		assertThat(scrape()).contains("hikaricp_connections_active");
	}

	private String scrape() {
		String text = this.client.get()
			.uri("/actuator/prometheus")
			.exchange()
			.expectStatus()
			.isOk()
			.expectBody(String.class)
			.returnResult()
			.getResponseBody();
		assertThat(text).isNotNull();
		return text;
	}

}
