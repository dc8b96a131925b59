package io.github.holdfast.autoconfigure;

import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.AuditEventRepository;
import org.springframework.boot.actuate.audit.InMemoryAuditEventRepository;
import org.springframework.boot.actuate.audit.listener.AuditListener;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.actuate.LocksEndpoint;
import io.github.holdfast.actuate.LocksEndpoint.EvictionDescriptor.Outcome;
import io.github.holdfast.actuate.LocksEndpoint.HeldDescriptor;
import io.github.holdfast.actuate.LocksEndpoint.HolderDescriptor;
import io.github.holdfast.actuate.LocksEndpointWebExtension;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The endpoint {@code locks} and the health of the store in an application.
 */
@ExtendWith(OutputCaptureExtension.class)
class LocksEndpointConfigurationTests {

	private final ApplicationContextRunner application = LockedApplication.jdbc(TestDatabase.H2.newDatabase())
		.withConfiguration(AutoConfigurations.of(LocksEndpointAutoConfiguration.class,
				LockHealthContributorAutoConfiguration.class));

	private final ApplicationContextRunner exposed = this.application
		.withPropertyValues("management.endpoints.web.exposure.include=locks");

	// Endpoint

	@Test
	void endpointIsThereIfItIsExposed() {
		this.exposed.run((context) -> assertThat(context).hasSingleBean(LocksEndpoint.class)
			.hasSingleBean(LocksEndpointWebExtension.class));
		this.application.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(LocksEndpoint.class));
		this.exposed.withPropertyValues("management.endpoint.locks.access=NONE")
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(LocksEndpoint.class));
	}

	@Test
	void applicationStartsWithoutActuatorAndWithoutLocks() {
		this.exposed
			.withClassLoader(new FilteredClassLoader(ConditionalOnAvailableEndpoint.class,
					ConditionalOnEnabledHealthIndicator.class))
			.run((context) -> assertThat(context).hasNotFailed().hasSingleBean(LockTemplate.class));
		this.exposed.withPropertyValues("holdfast.enabled=false")
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(LocksEndpoint.class));
	}

	@Test
	void keysAreShownOnlyIfThatIsAskedFor() {
		this.exposed.run((context) -> context.getBean(LockTemplate.class)
			.run("customer:4711", () -> assertThat(context.getBean(LocksEndpoint.class).locks().held()).singleElement()
				.satisfies((held) -> assertThat(held.key()).matches("sha256:[0-9a-f]{16}"))));
		this.exposed.withPropertyValues("management.endpoint.locks.show-values=ALWAYS")
			.run((context) -> context.getBean(LockTemplate.class)
				.run("customer:4711",
						() -> assertThat(context.getBean(LocksEndpoint.class).locks().held()).singleElement()
							.extracting(HeldDescriptor::key)
							.isEqualTo("customer:4711")));
	}

	/**
	 * The holder has written them into the store, for people.
	 */
	@Test
	void keysThatTheHolderHasBesidesAreShownOnlyIfThatIsAskedFor() {
		assertThat(holderOfTheInnerLock(this.exposed)).startsWith("held by ").doesNotContain("4711");
		assertThat(
				holderOfTheInnerLock(this.exposed.withPropertyValues("management.endpoint.locks.show-values=ALWAYS")))
			.contains("holding 'lock:customer:4711' in 'LockTemplate'");
	}

	private static String holderOfTheInnerLock(ApplicationContextRunner application) {
		StringBuilder text = new StringBuilder();
		application.run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			locks.run("customer:4711",
					() -> locks.run("order:7",
							() -> context.getBean(LocksEndpoint.class)
								.lock(new String[] { "order:7" })
								.holders()
								.values()
								.forEach((holder) -> text.append(holder.text()))));
		});
		return text.toString();
	}

	@Test
	void lockIsToldAsTheStoreAndThisNodeKnowIt() {
		this.exposed.run((context) -> {
			LocksEndpoint endpoint = context.getBean(LocksEndpoint.class);
			context.getBean(LockTemplate.class).withName("stock").run("a/b", () -> {
				HeldDescriptor held = endpoint.locks().held().get(0);
				for (String[] key : List.of(new String[] { "a", "b" }, new String[] { held.key() })) {
					LocksEndpoint.LockDescriptor lock = endpoint.lock(key);
					assertThat(lock.key()).isEqualTo(held.key());
					assertThat(lock.held()).extracting(HeldDescriptor::token).containsExactly(held.fencingToken());
					assertThat(lock.holders()).containsOnlyKeys("jdbc");
					HolderDescriptor holder = lock.holders().get("jdbc");
					assertThat(holder.owner()).isEqualTo(held.owner());
					assertThat(holder.epoch()).isEqualTo(held.epoch());
					assertThat(holder.since()).isNotNull();
					assertThat(holder.expires()).isAfter(holder.since());
				}
			});
			assertThat(endpoint.lock(new String[] { "a", "b" }).holders()).isEmpty();
		});
	}

	@Test
	void evictedHolderCannotCommitAndTheEvictionIsAudited() {
		InMemoryAuditEventRepository audit = new InMemoryAuditEventRepository();
		this.exposed.withBean(AuditEventRepository.class, () -> audit)
			.withBean(AuditListener.class, () -> new AuditListener(audit))
			.run((context) -> {
				LocksEndpoint endpoint = context.getBean(LocksEndpoint.class);
				TransactionTemplate transaction = new TransactionTemplate(
						context.getBean(PlatformTransactionManager.class));
				assertThatExceptionOfType(LockLostException.class)
					.isThrownBy(() -> context.getBean(LockTemplate.class).run("A", () -> {
						HeldDescriptor held = endpoint.locks().held().get(0);
						long epoch = Long.parseLong(held.epoch());
						assertThat(endpoint.evict(new String[] { "A" }, held.owner(), epoch + 1).outcome())
							.isEqualTo(Outcome.NOT_HELD);
						assertThat(endpoint.evict(new String[] { held.key() }, held.owner(), epoch).outcome())
							.isEqualTo(Outcome.EVICTED);
						transaction.executeWithoutResult((status) -> {
						});
					}));
			});
		assertThat(audit.find(null, null, "LOCK_EVICTION")).extracting(AuditEvent::getData)
			.allSatisfy((data) -> assertThat(data).containsEntry("key", "A"))
			.extracting((data) -> data.get("outcome"))
			.containsExactly("NOT_HELD", "EVICTED");
	}

	/**
	 * Owner and key come with the request.
	 */
	@Test
	void evictionForgesNoLine(CapturedOutput output) {
		InMemoryAuditEventRepository audit = new InMemoryAuditEventRepository();
		this.exposed.withBean(AuditEventRepository.class, () -> audit)
			.withBean(AuditListener.class, () -> new AuditListener(audit))
			.run((context) -> context.getBean(LocksEndpoint.class)
				.evict(new String[] { "A\nforged key" }, "me'\r\nforged owner", 1));
		assertThat(output.toString().lines()).filteredOn((line) -> line.contains("was to be taken away"))
			.singleElement()
			.asString()
			.contains("'A\\u000aforged key'", "'me'\\u000d\\u000aforged owner' with epoch 1: NOT_HELD");
		assertThat(audit.find(null, null, "LOCK_EVICTION")).singleElement()
			.extracting(AuditEvent::getData, as(InstanceOfAssertFactories.MAP))
			.containsEntry("key", "A\\u000aforged key")
			.containsEntry("owner", "me'\\u000d\\u000aforged owner");
	}

	@Test
	void backendThatCannotTakeLocksAwaySaysWhy() {
		LockedApplication.local()
			.withConfiguration(AutoConfigurations.of(LocksEndpointAutoConfiguration.class))
			.withPropertyValues("management.endpoints.web.exposure.include=locks")
			.run((context) -> assertThat(context.getBean(LocksEndpoint.class).evict(new String[] { "A" }, "owner", 1))
				.satisfies((eviction) -> {
					assertThat(eviction.outcome()).isEqualTo(Outcome.NOT_SUPPORTED);
					assertThat(eviction.detail()).contains("end the process");
				}));
	}

	// Outages

	@Test
	void callsFailAndHealthIsDownWhileTheStoreIsDown() {
		this.application.run((context) -> {
			context.getBean(DataSource.class).unwrap(HikariDataSource.class).close();
			assertThatExceptionOfType(LockBackendException.class)
				.isThrownBy(() -> context.getBean(LockTemplate.class).run("A", () -> {
				}))
				.withMessageContaining("could not be acquired, the lock table failed");
			Health health = health(context.getBean("holdfastHealthContributor", HealthIndicator.class));
			assertThat(health.getStatus()).isEqualTo(Status.DOWN);
			assertThat((String) health.getDetails().get("error")).contains("could not be asked for");
			assertThat((String) health.getDetails().get("cause")).contains("SQLException: HikariDataSource")
				.contains("has been closed");
			assertThat(up(context)).isZero();
		});
	}

	/**
	 * Neither the driver nor the pool ends the wait for the answer.
	 */
	@Test
	@Tag("F82")
	@Timeout(60)
	void healthDoesNotHangWithTheStoreAndAsksItOnce() throws Exception {
		DatabaseAccess database = TestDatabase.POSTGRESQL.newRemoteDatabase();
		try (FaultProxy proxy = new FaultProxy(database.port())) {
			LockedApplication.jdbc(database.onPort(proxy.port()))
				.withConfiguration(AutoConfigurations.of(LockHealthContributorAutoConfiguration.class))
				.run((context) -> {
					HealthIndicator indicator = context.getBean("holdfastHealthContributor", HealthIndicator.class);
					assertThat(health(indicator).getStatus()).isEqualTo(Status.UP);
					proxy.inject(FaultProxy.Fault.BLACKHOLE);
					for (int i = 0; i < 2; i++) {
						Health health = health(indicator);
						assertThat(health.getStatus()).isEqualTo(Status.DOWN);
						assertThat((String) health.getDetails().get("error")).contains("there was no answer within");
						assertThat(threadsThatAsk()).isOne();
					}
					proxy.inject(FaultProxy.Fault.NONE);
					await().atMost(Duration.ofSeconds(30)).until(() -> health(indicator).getStatus().equals(Status.UP));
				});
		}
	}

	private static long threadsThatAsk() {
		return Thread.getAllStackTraces()
			.values()
			.stream()
			.filter((stack) -> List.of(stack).toString().contains("LockHealthIndicator.ask"))
			.count();
	}

	// Health

	@Test
	void healthTellsOfTheStoreWithoutTakingALock() {
		this.application.run((context) -> {
			Health health = health(context.getBean("holdfastHealthContributor", HealthIndicator.class));
			assertThat(health.getStatus()).isEqualTo(Status.UP);
			assertThat(health.getDetails()).containsEntry("backend", "jdbc")
				.containsEntry("commitGuard", "fence")
				.containsKeys("topology", "roundTrip", "clockSkew");
			assertThat(up(context)).isOne();
			assertThat(new JdbcTemplate(context.getBean(DataSource.class))
				.queryForObject("SELECT count(*) FROM holdfast_lock", Integer.class)).isZero();
		});
	}

	@Test
	void healthIsSwitchedOffAsAnyOther() {
		this.application.withPropertyValues("management.health.holdfast.enabled=false")
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean("holdfastHealthContributor"));
	}

	@Test
	void healthIsUnknownWhileThePoolHasNoConnectionLeft() {
		this.application
			.withPropertyValues("spring.datasource.hikari.maximum-pool-size=1",
					"spring.datasource.hikari.connection-timeout=250")
			.run((context) -> {
				DataSource pool = context.getBean(DataSource.class);
				HealthIndicator indicator = context.getBean("holdfastHealthContributor", HealthIndicator.class);
				List<Connection> taken = new ArrayList<>();
				try {
					while (health(indicator).getStatus().equals(Status.UP)) {
						taken.add(pool.getConnection());
					}
					assertThat(health(indicator).getStatus()).isEqualTo(Status.UNKNOWN);
					assertThat(up(context)).isNaN();
				}
				finally {
					for (Connection connection : taken) {
						connection.close();
					}
				}
				assertThat(health(indicator).getStatus()).isEqualTo(Status.UP);
			});
	}

	private static double up(ApplicationContext context) {
		SimpleMeterRegistry registry = new SimpleMeterRegistry();
		context.getBean("holdfastStoreUp", MeterBinder.class).bindTo(registry);
		return registry.get("holdfast.store.up").tag("backend", "jdbc").gauge().value();
	}

	private static Health health(HealthIndicator indicator) {
		Health health = indicator.health();
		assertThat(health).isNotNull();
		return health;
	}

}
