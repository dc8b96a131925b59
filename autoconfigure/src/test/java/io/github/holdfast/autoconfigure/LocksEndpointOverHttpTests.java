package io.github.holdfast.autoconfigure;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.security.autoconfigure.actuate.web.servlet.EndpointRequest;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.http.HttpMethod;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;

import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The endpoint {@code locks} over HTTP, with and without Spring Security.
 */
class LocksEndpointOverHttpTests {

	private static final String NOBODY = "?owner=nobody&epoch=1";

	@Test
	void endpointIsReadOnlyUnlessEvictionsAreAllowed() throws Exception {
		try (Server server = new Server(Open.class)) {
			assertThat(server.get("/health", null).statusCode()).isEqualTo(200);
			assertThat(server.get("/locks", null).statusCode()).isEqualTo(200);
			assertThat(server.delete("/locks/A" + NOBODY, null).statusCode()).isEqualTo(405);
		}
		try (Server server = new Server(Open.class, "management.endpoint.locks.access=unrestricted")) {
			assertThat(server.delete("/locks/A", null).statusCode()).as("nobody is named").isEqualTo(400);
			HttpResponse<String> response = server.delete("/locks/a/b" + NOBODY, null);
			assertThat(response.statusCode()).isEqualTo(409);
			assertThat(response.body()).contains("\"outcome\":\"NOT_HELD\"");
			assertThat(server.context.getBean(Events.class).seen).singleElement().satisfies((event) -> {
				assertThat(event.getType()).isEqualTo("LOCK_EVICTION");
				assertThat(event.getData()).containsEntry("key", "a/b");
				assertThat(event.getPrincipal()).isEqualTo("unknown");
			});
		}
	}

	@Test
	void endpointThatIsNotExposedIsNotFound() throws Exception {
		try (Server server = new Server(Open.class, "management.endpoints.web.exposure.include=health")) {
			assertThat(server.get("/locks", null).statusCode()).isEqualTo(404);
		}
	}

	@Test
	void rolesDecideWhoReadsKeysAndTakesLocksAway() throws Exception {
		try (Server server = new Server(Secured.class, "management.endpoint.locks.access=unrestricted",
				"management.endpoint.locks.show-values=when-authorized", "management.endpoint.locks.roles=OPERATOR")) {
			assertThat(server.get("/health", null).statusCode()).isEqualTo(200);
			assertThat(server.get("/locks", null).statusCode()).isEqualTo(401);
			assertThat(server.delete("/locks/A" + NOBODY, null).statusCode()).isEqualTo(401);
			assertThat(server.get("/locks/A", "viewer").body()).contains("\"key\":\"sha256:");
			assertThat(server.delete("/locks/A" + NOBODY, "viewer").statusCode()).isEqualTo(403);
			assertThat(server.get("/locks/A", "operator").body()).contains("\"key\":\"A\"");
			assertThat(server.delete("/locks/A" + NOBODY, "operator").statusCode()).isEqualTo(409);
			assertThat(server.context.getBean(Events.class).seen).extracting(AuditEvent::getPrincipal)
				.containsExactly("operator");
		}
	}

	/**
	 * Another key would be another lock.
	 */
	@Test
	void lockIsAskedForByTheKeyAsItIsWritten() throws Exception {
		try (Server server = new Server(Open.class, "management.endpoint.locks.show-values=always",
				"management.endpoint.locks.access=unrestricted",
				"management.endpoints.web.base-path=/actuator/locks/of",
				"management.endpoints.web.path-mapping.locks=a", "server.servlet.context-path=/actuator")) {
			for (String key : List.of("a/b", "a;b", "a;b=c/d;e", "a//b", "/a", "a/", "a b", "a%b", "ключ", "**")) {
				String path = "/actuator/locks/of/a/"
						+ key.replace("%", "%25").replace(" ", "%20").replace("ключ", "%D0%BA%D0%BB%D1%8E%D1%87");
				String answer = "\"key\":\"" + key + "\"";
				assertThat(server.get(path, null).body()).contains(answer);
				assertThat(server.delete(path + NOBODY, null).body()).contains(answer, "NOT_HELD");
			}
		}
	}

	/**
	 * That nobody holds the lock would be a guess.
	 */
	@Test
	void holderIsUnknownWhileTheStoreIsDown() throws Exception {
		try (Server server = new Server(Open.class)) {
			assertThat(server.get("/locks/A", null).body()).contains("\"holders\":{}", "\"unknown\":[]");
			server.context.getBean(DataSource.class).unwrap(HikariDataSource.class).close();
			HttpResponse<String> response = server.get("/locks/A", null);
			assertThat(response.statusCode()).isEqualTo(503);
			assertThat(response.body()).contains("\"unknown\":[\"jdbc\"]", "\"held\":[]");
			assertThat(server.get("/locks", null).statusCode()).as("what this node knows").isEqualTo(200);
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(excludeName = {
			"org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration",
			"org.springframework.boot.security.autoconfigure.web.servlet.SecurityFilterAutoConfiguration",
			"org.springframework.boot.security.autoconfigure.actuate.web.servlet.ManagementWebSecurityAutoConfiguration" })
	static class Open {

		@Bean
		Events events() {
			return new Events();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Secured {

		@Bean
		Events events() {
			return new Events();
		}

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

	static class Events {

		private final List<AuditEvent> seen = new ArrayList<>();

		@EventListener
		void see(AuditApplicationEvent event) {
			this.seen.add(event.getAuditEvent());
		}

	}

	/**
	 * A running application.
	 */
	private static final class Server implements AutoCloseable {

		private final HttpClient http = HttpClient.newHttpClient();

		private final ConfigurableApplicationContext context;

		private Server(Class<?> application, String... properties) {
			DatabaseAccess access = TestDatabase.H2.newDatabase();
			this.context = new SpringApplicationBuilder(application)
				.properties("management.endpoints.web.exposure.include=health,locks")
				.properties(properties)
				.properties("spring.datasource.url=" + access.url(), "spring.datasource.username=" + access.user(),
						"spring.datasource.password=" + access.password(), "spring.flyway.enabled=false",
						"holdfast.backend=jdbc", "holdfast.jdbc.initialize-schema=always", "server.port=0",
						"management.health.redis.enabled=false")
				.run();
		}

		private HttpResponse<String> get(String path, @Nullable String user) throws Exception {
			return send("GET", path, user);
		}

		private HttpResponse<String> delete(String path, @Nullable String user) throws Exception {
			return send("DELETE", path, user);
		}

		private HttpResponse<String> send(String method, String path, @Nullable String user) throws Exception {
			String port = this.context.getEnvironment().getRequiredProperty("local.server.port");
			HttpRequest.Builder request = HttpRequest
				.newBuilder(URI.create("http://localhost:" + port + "/actuator" + path))
				.method(method, HttpRequest.BodyPublishers.noBody());
			if (user != null) {
				request.header("Authorization", "Basic "
						+ Base64.getEncoder().encodeToString((user + ":" + user).getBytes(StandardCharsets.UTF_8)));
			}
			return this.http.send(request.build(), HttpResponse.BodyHandlers.ofString());
		}

		@Override
		public void close() {
			this.context.close();
		}

	}

}
