package io.github.holdfast.sample.wms.operate;

import java.util.List;

import com.jayway.jsonpath.JsonPath;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockTemplate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.resttestclient.autoconfigure.AutoConfigureRestTestClient;
import org.springframework.boot.security.autoconfigure.actuate.web.servlet.EndpointRequest;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.http.HttpMethod;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.test.web.servlet.client.RestTestClient;
import org.springframework.test.web.servlet.client.RestTestClient.ResponseSpec;
import org.springframework.transaction.support.TransactionOperations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Who sees what of the running service if Spring Security protects its endpoints.
 * Strangers only see that it is healthy. Viewers see meters and locks, but no keys, and
 * change nothing. Operators see all, and take locks away.
 */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { "spring.datasource.url=jdbc:h2:mem:secured;DB_CLOSE_DELAY=-1", "wms.stock-report.cron=-",
				"management.endpoint.locks.access=unrestricted",
				"management.endpoint.locks.show-values=when-authorized", "management.endpoint.locks.roles=OPERATOR",
				"management.endpoint.health.show-details=when-authorized",
				"management.endpoint.health.roles=OPERATOR" })
@ActiveProfiles({ "operate", SecurityOfTests.PROFILE })
@AutoConfigureRestTestClient
@Tag("long")
class SecuredEndpointsTests {

	private static final String KEY = "inventory:C:W1:A";

	@Autowired
	private RestTestClient stranger;

	@Autowired
	private LockTemplate locks;

	@Autowired
	private TransactionOperations transaction;

	@Test
	void strangersSeeOnlyThatTheServiceIsHealthy() {
		for (String endpoint : List.of("locks", "locks/" + KEY, "metrics/holdfast.locks.pending", "prometheus")) {
			get(this.stranger, endpoint).expectStatus().isUnauthorized();
		}
		get(this.stranger, "health").expectStatus()
			.isOk()
			.expectBody()
			.jsonPath("$.status")
			.isEqualTo("UP")
			.jsonPath("$.components")
			.doesNotExist();
	}

	@Test
	void onlyOperatorsSeeTheStoreInTheHealth() {
		get(user("viewer"), "health").expectStatus().isOk().expectBody().jsonPath("$.components").doesNotExist();
		get(user("operator"), "health").expectStatus()
			.isOk()
			.expectBody()
			.jsonPath("$.components.holdfast.details.backend")
			.isEqualTo("jdbc")
			.jsonPath("$.components.holdfast.details.commitGuard")
			.isEqualTo("fence");
	}

	@Test
	void viewersSeeMetersAndLocksWithoutTheirKeys() {
		this.locks.withName("viewed").run(KEY, () -> {
			get(user("viewer"), "metrics/holdfast.locks.active?tag=lock.name:viewed").expectStatus()
				.isOk()
				.expectBody()
				.jsonPath("$.measurements[0].value")
				.isEqualTo(1.0);
			assertThat(text(get(user("viewer"), "prometheus"))).contains("holdfast_locks_active");
			assertThat(text(get(user("viewer"), "locks"))).contains("sha256:").doesNotContain(KEY);
			assertThat(text(get(user("operator"), "locks"))).contains(KEY);
		});
	}

	@Test
	void onlyOperatorsTakeLocksAway() {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.locks.withName("evicted").run(KEY, () -> {
				String lock = text(get(user("operator"), "locks/" + KEY));
				String eviction = "/actuator/locks/" + KEY + "?owner=" + JsonPath.read(lock, "$.holders.jdbc.owner")
						+ "&epoch=" + JsonPath.read(lock, "$.holders.jdbc.epoch");
				this.stranger.delete().uri(eviction).exchange().expectStatus().isUnauthorized();
				user("viewer").delete().uri(eviction).exchange().expectStatus().isForbidden();
				this.transaction.executeWithoutResult((status) -> {
				});
				user("operator").delete()
					.uri(eviction)
					.exchange()
					.expectStatus()
					.isOk()
					.expectBody()
					.jsonPath("$.outcome")
					.isEqualTo("EVICTED");
				this.transaction.executeWithoutResult((status) -> {
				});
			}));
		get(user("viewer"), "metrics/holdfast.locks.lost?tag=lock.name:evicted").expectBody()
			.jsonPath("$.measurements[0].value")
			.isEqualTo(1.0);
	}

	private RestTestClient user(String name) {
		return this.stranger.mutate().defaultHeaders((headers) -> headers.setBasicAuth(name, name)).build();
	}

	private static ResponseSpec get(RestTestClient client, String endpoint) {
		return client.get().uri("/actuator/" + endpoint).exchange();
	}

	private static String text(ResponseSpec response) {
		String text = response.expectStatus().isOk().expectBody(String.class).returnResult().getResponseBody();
		assertThat(text).isNotNull();
		return text;
	}

	@TestConfiguration(proxyBeanMethods = false)
	static class Security {

		/**
		 * Clients that log in with each request need no protection against CSRF.
		 */
		@Bean
		SecurityFilterChain endpoints(HttpSecurity http) {
			return http.securityMatcher(EndpointRequest.toAnyEndpoint())
				.authorizeHttpRequests((requests) -> requests.requestMatchers(EndpointRequest.to("health"))
					.permitAll()
					.requestMatchers(HttpMethod.DELETE)
					.hasRole("OPERATOR")
					.anyRequest()
					.authenticated())
				.httpBasic(Customizer.withDefaults())
				.csrf((csrf) -> csrf.disable())
				.build();
		}

		@Bean
		UserDetailsService users() {
			return new InMemoryUserDetailsManager(user("viewer", "VIEWER"), user("operator", "OPERATOR"));
		}

		private static UserDetails user(String name, String role) {
			return User.withUsername(name).password("{noop}" + name).roles(role).build();
		}

	}

}
