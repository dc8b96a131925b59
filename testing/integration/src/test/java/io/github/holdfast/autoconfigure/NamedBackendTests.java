package io.github.holdfast.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import com.zaxxer.hikari.HikariDataSource;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

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
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockBackend;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockLostException;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockOverlapException;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.actuate.LocksEndpoint;
import io.github.holdfast.actuate.LocksEndpoint.EvictionDescriptor;
import io.github.holdfast.actuate.LocksEndpoint.HeldDescriptor;
import io.github.holdfast.actuate.LocksEndpoint.HolderDescriptor;
import io.github.holdfast.store.HandoverLockBackend;
import io.github.holdfast.store.jdbc.JdbcLockBackend;
import io.github.holdfast.store.local.LocalLockBackend;
import io.github.holdfast.store.redis.RedisLockBackend;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.testsupport.WaitingCall;

import static io.github.holdfast.autoconfigure.LockBackendAutoConfigurationTests.assertFailure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

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
		.withUserConfiguration(Backends.class)
		.withPropertyValues("holdfast.backend=jdbc", "holdfast.locks.stock.backend=stockLocks",
				"holdfast.locks.cache.backend=cacheLocks");

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
			.contains("The locks [stock] are kept by the backend 'stockLocks' (redis) as 'lock:...'")
			.contains("The locks [cache] are kept by the backend 'cacheLocks' (local) as 'lock:...'")
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
			assertThat(sources()).containsExactly("stockLocks");
			assertThatExceptionOfType(LockLostException.class).isThrownBy(
					() -> sales.deduct(() -> this.stores.sql().update("UPDATE holdfast_fence SET epoch = epoch + 1")));
		});
	}

	private List<String> sources() {
		return this.stores.sql().queryForList("SELECT source FROM holdfast_fence ORDER BY source", String.class);
	}

	@Test
	void secondRedisHasItsOwnRows() {
		try (RedisServer archive = RedisServer.start()) {
			LettuceConnectionFactory redis = RedisConnections.lettuce(archive.port());
			withReports(new RedisLockBackend(() -> redis)).run((context) -> {
				LockTemplate locks = context.getBean(LockTemplate.class);
				locks.withName("stock").run("A", () -> locks.withName("report").run("A", () -> {
					assertThat(this.stores.redis().command("EXISTS", "{lock:A}")).isEqualTo(1L);
					assertThat(archive.command("EXISTS", "{lock:A}")).isEqualTo(1L);
					assertThat(context.getBean(NamedBackends.class).all()).extracting((guard) -> guard.backend().name())
						.containsExactlyInAnyOrder("reportLocks", "cacheLocks", "stockLocks");
				}));
				assertThat(sources()).containsExactly("reportLocks", "stockLocks");
			});
			RedisConnections.close(redis);
		}
	}

	@Test
	void leaseIsHandedOverWithinThisJvm() {
		this.application.withPropertyValues("holdfast.wait-time=30s", "holdfast.handover.max-time=60s")
			.run((context) -> {
				LockTemplate locks = context.getBean(LockTemplate.class).withName("stock");
				AtomicReference<CompletableFuture<Long>> next = new AtomicReference<>();
				long first = locks.execute("A", () -> {
					next.set(WaitingCall
						.start(() -> locks.execute("A", () -> LockContext.current().orElseThrow().token())));
					return LockContext.current().orElseThrow().token();
				});
				assertThat(next.get().get(30, TimeUnit.SECONDS)).as("the next turn of one lease").isEqualTo(first + 1);
			});
	}

	@Test
	void locksOfASecondDatabaseAreCheckedInThatOfTheBusiness() {
		DatabaseAccess other = TestDatabase.H2.newDatabase();
		LockedApplication.jdbc(other).run((context) -> assertThat(context).hasNotFailed());
		try (HikariDataSource pool = other.dataSource(3)) {
			withReports(new JdbcLockBackend(() -> pool)).run((context) -> {
				assertThat(context).hasNotFailed();
				assertThatExceptionOfType(LockLostException.class)
					.isThrownBy(() -> sell(context, "report", null, () -> {
						assertThat(new JdbcTemplate(pool).queryForObject(
								"SELECT count(*) FROM holdfast_lock WHERE owner IS NOT NULL", Integer.class))
							.isEqualTo(1);
						this.stores.sql()
							.update("UPDATE holdfast_fence SET epoch = epoch + 1 WHERE source = 'reportLocks'");
					}));
				assertThat(this.stores.available()).isEqualTo(100);
				assertThat(sources()).containsExactly("reportLocks");
			});
		}
	}

	private ApplicationContextRunner withReports(LockBackend backend) {
		return this.application
			.withBean("reportLocks", LockBackend.class, () -> backend,
					(definition) -> ((AbstractBeanDefinition) definition).setDefaultCandidate(false))
			.withPropertyValues("holdfast.locks.report.backend=reportLocks");
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
						assertThat(lock.holders()).containsOnlyKeys("jdbc", "stockLocks");
						HolderDescriptor holder = lock.holders().get("stockLocks");
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
						.containsExactlyInAnyOrder("jdbc", "stockLocks", "cacheLocks");
					assertThat(health(health, "stockLocks").getStatus()).isEqualTo(Status.UP);
					assertThat(health(health, "stockLocks").getDetails()).containsEntry("backend", "stockLocks")
						.containsEntry("commitGuard", "fence");
					assertThat(health(health, "cacheLocks").getDetails()).containsEntry("commitGuard", "lease");
					stopping.kill();
					assertThat(health(health, "stockLocks").getStatus()).isEqualTo(Status.DOWN);
					assertThat(health(health, "jdbc").getStatus()).isEqualTo(Status.UP);
					SimpleMeterRegistry registry = new SimpleMeterRegistry();
					context.getBean("holdfastStoreUp", MeterBinder.class).bindTo(registry);
					assertThat(registry.get("holdfast.store.up").gauges()).hasSize(3);
					assertThat(registry.get("holdfast.store.up").tag("backend", "stockLocks").gauge().value()).isZero();
					assertThat(registry.get("holdfast.store.up").tag("backend", "jdbc").gauge().value()).isOne();
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
	void capabilitiesAreThoseOfTheBackendOfTheName() {
		this.application.withBean(FairStock.class).run((context) -> assertThat(context).hasNotFailed());
		assertFailure(this.application.withBean(FairOrders.class), "Lock 'orders' asks for [FAIR]", "backend 'jdbc'",
				"'holdfast.locks.<name>.backend'");
	}

	@ParameterizedTest
	@ValueSource(strings = { "archiv", "redis", "dataSource" })
	void nameOfNoBackendFailsTheStart(String name) {
		assertFailure(this.application.withPropertyValues("holdfast.locks.report.backend=" + name),
				"'holdfast.locks[report].backend' is '" + name + "', but there is no LockBackend bean of that name.",
				"@Bean(defaultCandidate = false)", "stockLocks");
	}

	@Test
	void backendThatReplacesTheDefaultOneFailsTheStart() {
		assertFailure(
				this.application.withBean("reportLocks", LockBackend.class, LocalLockBackend::new)
					.withPropertyValues("holdfast.locks.report.backend=reportLocks"),
				"'holdfast.locks[report].backend' names the bean 'reportLocks', which is the default backend of all locks.",
				"@Bean(defaultCandidate = false)");
	}

	@Test
	void backendWithAQueueOfItsOwnFailsTheStart() {
		assertFailure(withReports(new HandoverLockBackend(new LocalLockBackend())),
				"'holdfast.locks[report].backend' names the bean 'reportLocks', which has a fence or a queue of its own.",
				"store alone");
	}

	@Test
	void sameNameInTheFenceTableFailsTheStart() {
		assertFailure(this.application.withPropertyValues("holdfast.backend=redis", "holdfast.fence.source=stockLocks"),
				"have the same name in the fence table, 'stockLocks'.", "'holdfast.fence.source'");
	}

	@Test
	void storeThatIsNotThereFailsTheStartAndIsNamed() {
		LettuceConnectionFactory nowhere = RedisConnections.lettuce(1);
		assertFailure(withReports(new RedisLockBackend(() -> nowhere)),
				"The LockBackend bean 'reportLocks' cannot be used: ", "connected to");
		RedisConnections.close(nowhere);
	}

	@Test
	void storeOfAnotherFormatFailsTheStart() {
		LettuceConnectionFactory redis = RedisConnections.lettuce(this.stores.redis().port());
		LockRequest marker = new LockRequest("lock:" + LockFormatCheck.KEY, "format", LockRequest.Mode.EXCLUSIVE, false,
				Duration.ZERO, Duration.ofMinutes(1), "2", "format 2", 0);
		try (RedisLockBackend store = new RedisLockBackend(() -> redis)) {
			LockLease lease = assertDoesNotThrow(() -> store.acquire(marker));
			assertThat(lease).isNotNull();
			assertFailure(this.application, "a format that this version of Holdfast does not know", "format 2");
		}
		RedisConnections.close(redis);
	}

	@Test
	void storeWithTwoNamesFailsTheStart() {
		assertFailure(
				this.stores.application()
					.withBean(Names.class)
					.withUserConfiguration(TwoNames.class)
					.withPropertyValues("holdfast.backend=jdbc", "holdfast.locks.stock.backend=one",
							"holdfast.locks.cache.backend=two", "holdfast.fence.initialize-schema=always"),
				"is the same LockBackend as", "Call it by one name");
	}

	@Test
	void localLocksNeedNoTableByDefault() {
		this.stores.application()
			.withBean(Names.class)
			.withUserConfiguration(Backends.class)
			.withPropertyValues("holdfast.backend=jdbc", "holdfast.locks.cache.backend=cacheLocks",
					"holdfast.fence.initialize-schema=never")
			.run((context) -> {
				assertThat(context).hasNotFailed().doesNotHaveBean(FenceTables.class);
				context.getBean(LockTemplate.class).withName("cache").run("A", () -> {
				});
			});
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

	@Configuration(proxyBeanMethods = false)
	static class Backends {

		@Bean(defaultCandidate = false)
		LockBackend stockLocks(RedisConnectionFactory redis) {
			return new RedisLockBackend(() -> redis);
		}

		@Bean(defaultCandidate = false)
		LocalLockBackend cacheLocks() {
			return new LocalLockBackend();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TwoNames {

		@Bean(name = { "one", "two" }, defaultCandidate = false)
		LocalLockBackend locks() {
			return new LocalLockBackend();
		}

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

}
