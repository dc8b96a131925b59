package io.github.holdfast.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.CompositeHealthContributor;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthContributors;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockOverlapException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.actuate.LocksEndpoint;
import io.github.holdfast.actuate.LocksEndpoint.EvictionDescriptor;
import io.github.holdfast.actuate.LocksEndpoint.HeldDescriptor;
import io.github.holdfast.actuate.LocksEndpoint.HolderDescriptor;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.TestDatabase;

import static io.github.holdfast.autoconfigure.LockBackendAutoConfigurationTests.assertFailure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Several backends in one application: most locks are rows of a table, those of the stock
 * are in Redis, and those of a cache in the JVM.
 */
@ExtendWith(OutputCaptureExtension.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
class NamedBackendTests {

	private final TwoStores stores = new TwoStores();

	private final ApplicationContextRunner application = this.stores.application()
		.withBean(Names.class)
		.withPropertyValues("holdfast.backend=jdbc", "holdfast.locks.stock.backend=redis",
				"holdfast.locks.cache.backend=local");

	@AfterAll
	void stop() {
		this.stores.close();
	}

	@BeforeEach
	void reset() {
		this.stores.reset();
	}

	@Test
	void eachNameIsKeptByItsBackend(CapturedOutput output) {
		this.application.run((context) -> {
			assertThat(context).hasNotFailed();
			LockTemplate locks = context.getBean(LockTemplate.class);
			locks.withName("orders").run("A", () -> assertThat(this.stores.holders()).containsExactly(1L, 0L));
			locks.withName("stock").run("A", () -> assertThat(this.stores.holders()).containsExactly(0L, 1L));
			locks.withName("cache").run("A", () -> assertThat(this.stores.holders()).containsExactly(0L, 0L));
		});
		assertThat(output).contains("Locks are kept by the backend 'jdbc' as 'lock:...'")
			.contains("The locks [stock] are kept by the backend 'redis' (redis) as 'lock:...'")
			.contains("The locks [cache] are kept by the backend 'local' (local) as 'lock:...'")
			.containsOnlyOnce("Commit guard 'lease'");
	}

	@Test
	void sameKeyOfAnotherBackendIsAnotherLock() {
		this.application.run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			locks.withName("orders").run("A", () -> {
				locks.withName("stock").run("A", () -> assertThat(this.stores.holders()).containsExactly(1L, 1L));
				locks.withName("cache")
					.run("A", () -> locks.withName("cache")
						.run("A", () -> assertThat(this.stores.holders()).containsExactly(1L, 0L)));
				assertThat(
						TwoStores.elsewhere(() -> locks.withName("stock").withWaitTime(Duration.ZERO).run("A", () -> {
						})))
					.isNull();
				assertThat(
						TwoStores.elsewhere(() -> locks.withName("orders").withWaitTime(Duration.ZERO).run("A", () -> {
						})))
					.isInstanceOf(LockNotAcquiredException.class);
			});
		});
	}

	/**
	 * The body reads under both locks. Then one of them is taken away and given to
	 * another node, which commits.
	 */
	@ParameterizedTest
	@CsvSource({ "orders, stock, orders", "orders, stock, stock", "stock, orders, orders", "stock, orders, stock",
			"stock, cache, stock", "cache, stock, stock", "cache, orders, orders" })
	void lossOfEitherLockRefusesTheCommit(String outer, String inner, String lost) {
		twoNodes((node, other) -> {
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> sell(node, outer, inner, () -> {
				takeAway(lost);
				assertThat(TwoStores.elsewhere(() -> sell(other, lost, null, () -> {
				}))).isNull();
			}));
			assertThat(this.stores.available()).isEqualTo(99);
			sell(node, outer, inner, () -> {
			});
			assertThat(this.stores.available()).isEqualTo(98);
		});
	}

	/**
	 * The control: without the guard of the fence, the sale of the other node is lost.
	 */
	@ParameterizedTest
	@CsvSource({ "orders, stock, orders", "orders, stock, stock" })
	void lossOfEitherLockLosesAnUpdateAtTheLevelLease(String outer, String inner, String lost) {
		ApplicationContextRunner lease = this.application.withPropertyValues("holdfast.commit-guard=lease");
		lease.run((node) -> lease.run((other) -> {
			assertThatExceptionOfType(LockOverlapException.class).isThrownBy(() -> sell(node, outer, inner, () -> {
				takeAway(lost);
				assertThat(TwoStores.elsewhere(() -> sell(other, lost, null, () -> {
				}))).isNull();
			}));
			assertThat(this.stores.available()).as("after two sales of 100").isEqualTo(99);
		}));
	}

	private void twoNodes(Nodes test) {
		this.application.run((node) -> this.application.run((other) -> test.run(node, other)));
	}

	private static void sell(ApplicationContext node, String outer, @Nullable String inner, Runnable meanwhile) {
		LockTemplate locks = node.getBean(LockTemplate.class);
		Runnable sale = () -> TwoStores.sell(node, meanwhile);
		locks.withName(outer).run("A", (inner != null) ? () -> locks.withName(inner).run("A", sale::run) : sale::run);
	}

	private void takeAway(String name) {
		if (name.equals("stock")) {
			this.stores.takeAwayInRedis();
		}
		else {
			this.stores.takeAwayInTheTable();
		}
	}

	@Test
	void annotatedMethodsClaimWhereTheirBackendAllowsIt() {
		this.application.withBean(Sales.class).run((context) -> {
			Sales sales = context.getBean(Sales.class);
			for (int i = 0; i < 3; i++) {
				sales.order();
				sales.deduct();
				sales.cached();
			}
			assertThat(sales.calls()).isEqualTo(9);
			assertThat(sources()).containsExactly("redis");
			assertThatExceptionOfType(LockLostException.class).isThrownBy(
					() -> sales.deduct(() -> this.stores.sql().update("UPDATE holdfast_fence SET epoch = epoch + 1")));
		});
	}

	private List<String> sources() {
		return this.stores.sql().queryForList("SELECT source FROM holdfast_fence ORDER BY source", String.class);
	}

	@Test
	void secondRedisHasItsOwnRowsAndHandover(CapturedOutput output) {
		try (RedisServer archive = RedisServer.start()) {
			this.application
				.withBean("archiveRedis", RedisConnectionFactory.class, () -> RedisConnections.lettuce(archive.port()))
				.withBean("redisConnectionFactory", RedisConnectionFactory.class,
						() -> RedisConnections.lettuce(this.stores.redis().port()),
						(definition) -> definition.setPrimary(true))
				.withPropertyValues("holdfast.locks.report.backend=archive", "holdfast.backends.archive.type=redis",
						"holdfast.backends.archive.connection=archiveRedis",
						"holdfast.backends.archive.handover.max-turns=0")
				.run((context) -> {
					LockTemplate locks = context.getBean(LockTemplate.class);
					locks.withName("stock").run("A", () -> locks.withName("report").run("A", () -> {
						assertThat(this.stores.redis().command("EXISTS", "{lock:A}")).isEqualTo(1L);
						assertThat(archive.command("EXISTS", "{lock:A}")).isEqualTo(1L);
						assertThat(context.getBean(NamedBackends.class).all())
							.extracting((guard) -> guard.backend().name())
							.containsExactlyInAnyOrder("archive", "local", "redis");
					}));
					assertThat(sources()).containsExactly("archive", "redis");
				});
			assertThat(output)
				.containsPattern("\\[report] are kept by the backend 'archive' .redis. .* never handed over");
		}
	}

	@Test
	void locksOfASecondDatabaseAreCheckedInThatOfTheBusiness() {
		DatabaseAccess other = TestDatabase.H2.newDatabase();
		try (HikariDataSource locks = other.dataSource(3)) {
			this.application
				.withBean("lockPool", DataSource.class, () -> locks,
						(definition) -> ((AbstractBeanDefinition) definition).setDestroyMethodName(""))
				.withBean("dataSource", DataSource.class, () -> this.stores.database().dataSource(4),
						(definition) -> definition.setPrimary(true))
				.withPropertyValues("holdfast.locks.report.backend=far", "holdfast.backends.far.type=jdbc",
						"holdfast.backends.far.connection=lockPool",
						"holdfast.backends.far.jdbc.initialize-schema=always")
				.run((context) -> {
					assertThat(context).hasNotFailed();
					JdbcTemplate far = new JdbcTemplate(locks);
					assertThatExceptionOfType(LockLostException.class)
						.isThrownBy(() -> sell(context, "report", null, () -> {
							assertThat(far.queryForObject("SELECT count(*) FROM holdfast_lock", Integer.class))
								.isEqualTo(1);
							this.stores.sql()
								.update("UPDATE holdfast_fence SET epoch = epoch + 1 WHERE source = 'far'");
						}));
					assertThat(this.stores.available()).isEqualTo(100);
					assertThat(sources()).containsExactly("far");
				});
			assertThat(locks.isClosed()).as("closed with the backend").isFalse();
		}
	}

	/**
	 * Of one key there is a lock in each backend.
	 */
	@Test
	void endpointTellsOfEachBackendAndTakesALockAwayInThatOfItsHolder() {
		this.application.withConfiguration(AutoConfigurations.of(LocksEndpointAutoConfiguration.class))
			.withPropertyValues("management.endpoints.web.exposure.include=locks")
			.run((context) -> {
				LocksEndpoint endpoint = context.getBean(LocksEndpoint.class);
				String[] key = { "A" };
				assertThatExceptionOfType(LockLostException.class)
					.isThrownBy(() -> sell(context, "orders", "stock", () -> {
						LocksEndpoint.LockDescriptor lock = endpoint.lock(key);
						assertThat(lock.held()).extracting(HeldDescriptor::name)
							.containsExactlyInAnyOrder("orders", "stock");
						assertThat(lock.holders()).containsOnlyKeys("jdbc", "redis");
						HolderDescriptor holder = lock.holders().get("redis");
						long epoch = Long.parseLong(holder.epoch());
						assertThat(endpoint.evict(key, holder.owner(), epoch).outcome())
							.isEqualTo(EvictionDescriptor.Outcome.EVICTED);
						assertThat(endpoint.lock(key).holders()).containsOnlyKeys("jdbc");
					}));
				assertThat(this.stores.available()).isEqualTo(100);
			});
	}

	@Test
	void healthTellsOfEachBackend() {
		try (RedisServer stopping = RedisServer.start()) {
			this.application.withConfiguration(AutoConfigurations.of(LockHealthContributorAutoConfiguration.class))
				.withPropertyValues("spring.data.redis.port=" + stopping.port(), "spring.data.redis.timeout=2s")
				.run((context) -> {
					CompositeHealthContributor health = context.getBean("holdfastHealthContributor",
							CompositeHealthContributor.class);
					assertThat(health.stream()).extracting(HealthContributors.Entry::name)
						.containsExactlyInAnyOrder("jdbc", "redis", "local");
					assertThat(health(health, "redis").getStatus()).isEqualTo(Status.UP);
					assertThat(health(health, "redis").getDetails()).containsEntry("backend", "redis")
						.containsEntry("commitGuard", "fence");
					assertThat(health(health, "local").getDetails()).containsEntry("commitGuard", "lease");
					stopping.kill();
					assertThat(health(health, "redis").getStatus()).isEqualTo(Status.DOWN);
					assertThat(health(health, "jdbc").getStatus()).isEqualTo(Status.UP);
				});
		}
	}

	private static Health health(CompositeHealthContributor contributors, String backend) {
		assertThat(contributors.getContributor(backend)).isInstanceOf(HealthIndicator.class);
		Health health = ((HealthIndicator) contributors.getContributor(backend)).health();
		assertThat(health).isNotNull();
		return health;
	}

	@Test
	void contextsOfBackendsTellTheApplicationOfNothing() {
		Events events = new Events();
		this.application.withBean(Events.class, () -> events).run((context) -> assertThat(events.seen).hasValue(1));
		assertThat(events.seen).hasValue(2);
	}

	@Test
	void capabilitiesAreThoseOfTheBackendOfTheName() {
		this.application.withBean(FairStock.class).run((context) -> assertThat(context).hasNotFailed());
		assertFailure(this.application.withBean(FairOrders.class), "Lock 'orders' asks for [FAIR]", "backend 'jdbc'",
				"'holdfast.locks.<name>.backend'");
	}

	@Test
	void unknownBackendFailsTheStart() {
		assertFailure(this.application.withPropertyValues("holdfast.locks.report.backend=archiv"),
				"'holdfast.locks[report].backend' is 'archiv', but there is no such backend.", "local, jdbc, redis");
	}

	@Test
	void backendWithoutLocksFailsTheStart() {
		assertFailure(this.application.withPropertyValues("holdfast.backends.archive.type=redis"),
				"The backend 'archive' of 'holdfast.backends' keeps no locks.", "'holdfast.locks.<name>.backend'");
	}

	@Test
	void backendWithoutAStoreFailsTheStart() {
		assertFailure(
				this.application.withPropertyValues("holdfast.backends.archive.handover.max-turns=3",
						"holdfast.locks.report.backend=archive"),
				"The backend 'archive' of 'holdfast.backends' has no store.", "'holdfast.backends.archive.type'");
	}

	@Test
	void missingConnectionFailsTheStart() {
		assertFailure(
				this.application.withPropertyValues("holdfast.backends.redis.connection=archiveRedis",
						"holdfast.locks.report.backend=redis"),
				"'holdfast.backends.redis.connection' names the bean 'archiveRedis', but there is none.",
				"only or primary one");
	}

	@Test
	void sameNameInTheFenceTableFailsTheStart() {
		assertFailure(
				this.application.withPropertyValues("holdfast.backends.archive.type=redis",
						"holdfast.backends.archive.fence.source=redis", "holdfast.locks.report.backend=archive"),
				"have the same name in the fence table, 'redis'.", ".fence.source' to another one");
	}

	@Test
	void storeThatIsNotThereFailsTheStartAndIsNamed() {
		assertFailure(
				this.application.withPropertyValues("holdfast.backends.eu.type=redis",
						"holdfast.backends.eu.redis.quorum.nodes=127.0.0.1:1,127.0.0.1:2,127.0.0.1:3",
						"holdfast.locks.report.backend=eu"),
				"The backend 'eu' of 'holdfast.backends' cannot be used. The Redis of the lock backend 'redis' could",
				"Check 'holdfast.backends.eu.redis.quorum.nodes'");
	}

	@Test
	void sessionsFailTheStart() {
		assertFailure(
				this.application.withPropertyValues("holdfast.backend=redis", "holdfast.backends.sql.type=jdbc",
						"holdfast.backends.sql.jdbc.mode=session", "holdfast.locks.report.backend=sql"),
				"'holdfast.backends.sql.jdbc.mode' is 'session'", "Set it to 'table'");
	}

	@Test
	void missingTableFailsTheStart() {
		assertFailure(this.application.withPropertyValues("holdfast.fence.initialize-schema=never"),
				"The table 'holdfast_fence' cannot be read");
	}

	/**
	 * A test on two nodes.
	 */
	@FunctionalInterface
	private interface Nodes {

		void run(ApplicationContext node, ApplicationContext other);

	}

	/**
	 * Uses the names while the application starts, as its services do.
	 */
	static class Names {

		Names(LockTemplate locks) {
			List.of("orders", "stock", "cache", "report").forEach(locks::withName);
		}

	}

	static class Sales {

		private final AtomicInteger calls = new AtomicInteger();

		int calls() {
			return this.calls.get();
		}

		@DistributedLock(name = "orders", key = "'A'")
		@Transactional
		public void order() {
			this.calls.incrementAndGet();
		}

		@DistributedLock(name = "stock", key = "'A'")
		@Transactional
		public void deduct() {
			this.calls.incrementAndGet();
		}

		@DistributedLock(name = "stock", key = "'A'")
		@Transactional
		public void deduct(Runnable meanwhile) {
			meanwhile.run();
		}

		@DistributedLock(name = "cache", key = "'A'")
		@Transactional
		public void cached() {
			this.calls.incrementAndGet();
		}

	}

	static class FairStock {

		@DistributedLock(name = "stock", key = "'A'", fair = true)
		public void count() {
		}

	}

	static class FairOrders {

		@DistributedLock(name = "orders", key = "'A'", fair = true)
		public void count() {
		}

	}

	static class Events {

		private final AtomicInteger seen = new AtomicInteger();

		@EventListener({ ContextRefreshedEvent.class, ContextClosedEvent.class })
		void on() {
			this.seen.incrementAndGet();
		}

	}

}
