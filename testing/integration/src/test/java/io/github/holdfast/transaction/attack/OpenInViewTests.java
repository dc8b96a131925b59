package io.github.holdfast.transaction.attack;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;

import jakarta.persistence.EntityManager;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.client.SimpleClientHttpRequestFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.orm.jpa.support.OpenEntityManagerInViewFilter;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.RestClient;

import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.transaction.attack.JpaAttackTests.Item;

import static org.assertj.core.api.Assertions.assertThat;

/** A request reads over HTTP before it takes the lock; meanwhile, another one sells. */
@Timeout(180)
class OpenInViewTests {

	static Stream<Arguments> applications() {
		return Stream.of(Arguments.of(WebApplication.class, "holdfast.jpa.stale-context=allow", 1),
				Arguments.of(WebApplication.class, "none=", 2),
				Arguments.of(WebApplication.class, "spring.jpa.open-in-view=false", 2),
				Arguments.of(WebApplicationWithFilter.class, "spring.jpa.open-in-view=false", 2));
	}

	@ParameterizedTest
	@MethodSource("applications")
	void updateIsLostOnlyIfThatIsAllowed(Class<?> application, String property, int sold) {
		DatabaseAccess access = TestDatabase.H2.newDatabase();
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(application)
			.properties("spring.datasource.url=" + access.url(), "spring.datasource.username=" + access.user(),
					"spring.datasource.password=" + access.password(), "spring.flyway.enabled=false",
					"spring.jpa.hibernate.ddl-auto=update", "holdfast.backend=jdbc",
					"holdfast.jdbc.initialize-schema=always", "server.port=0", property)
			.run()) {
			JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
			jdbc.update("INSERT INTO item (id, sold) VALUES (1, 0)");
			ShopController controller = context.getBean(ShopController.class);
			CompletableFuture<Integer> slow = CompletableFuture.supplyAsync(() -> post(context, "/look-and-take"));
			try {
				Nodes.await(controller.looked);
				assertThat(post(context, "/take")).isOne();
			}
			finally {
				controller.goOn.countDown();
			}
			assertThat(slow.join()).isEqualTo(sold);
			assertThat(jdbc.queryForObject("SELECT sold FROM item", Integer.class)).as("two pieces were taken")
				.isEqualTo(sold);
		}
	}

	private static Integer post(ConfigurableApplicationContext context, String path) {
		return RestClient.builder()
			.baseUrl("http://localhost:" + context.getEnvironment().getRequiredProperty("local.server.port"))
			.requestFactory(new SimpleClientHttpRequestFactory())
			.build()
			.post()
			.uri(path)
			.retrieve()
			.body(Integer.class);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(excludeName = {
			"org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration",
			"org.springframework.boot.security.autoconfigure.web.servlet.SecurityFilterAutoConfiguration",
			"org.springframework.boot.security.autoconfigure.actuate.web.servlet.ManagementWebSecurityAutoConfiguration" })
	@Import({ Shop.class, ShopController.class })
	static class WebApplication {

		@Bean
		static PersistenceManagedTypes persistenceManagedTypes() {
			return PersistenceManagedTypes.of(Item.class.getName());
		}

	}

	static class WebApplicationWithFilter extends WebApplication {

		@Bean
		OpenEntityManagerInViewFilter openEntityManagerInViewFilter() {
			return new OpenEntityManagerInViewFilter();
		}

	}

	@RestController
	static class ShopController {

		private final CountDownLatch looked = new CountDownLatch(1);

		private final CountDownLatch goOn = new CountDownLatch(1);

		private final Shop shop;

		private final EntityManager entities;

		ShopController(Shop shop, EntityManager entities) {
			this.shop = shop;
			this.entities = entities;
		}

		@PostMapping("/take")
		int take() {
			int[] sold = new int[1];
			this.shop.locked(() -> sold[0] = ++this.entities.find(Item.class, 1).sold);
			return sold[0];
		}

		@PostMapping("/look-and-take")
		int lookAndTake() {
			this.entities.find(Item.class, 1);
			this.looked.countDown();
			Nodes.await(this.goOn);
			return take();
		}

	}

}
