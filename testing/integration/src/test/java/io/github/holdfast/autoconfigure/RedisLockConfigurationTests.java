package io.github.holdfast.autoconfigure;

import java.time.Duration;

import javax.sql.DataSource;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.mockito.Mockito;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.BodyTransaction;
import io.github.holdfast.core.TemplateAccess;
import io.github.holdfast.fence.FenceTable;
import io.github.holdfast.store.HandoverLockBackend;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.TestDatabase;

import static io.github.holdfast.autoconfigure.LockBackendAutoConfigurationTests.assertFailure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Locks in the Redis of an application, and what the start says when Redis is not fit for
 * them.
 */
@ExtendWith(OutputCaptureExtension.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
class RedisLockConfigurationTests {

	private final RedisServer server = RedisServer.start();

	private final ApplicationContextRunner application = LockedApplication.redis(this.server.port());

	@AfterAll
	void stop() {
		this.server.close();
	}

	@Test
	void onlyCandidateIsChosenAndLogged(CapturedOutput output) {
		this.application.run((context) -> {
			assertThat(context).getBean(LockBackend.class)
				.isInstanceOf(HandoverLockBackend.class)
				.hasToString("backend 'redis'");
			LockBackendTypeTests.assertOffers(context.getBean(LockBackend.class), LockBackendType.REDIS);
			context.getBean(LockTemplate.class)
				.run("A", () -> assertThat(this.server.command("HGET", "{lock:A}", "holder").toString())
					.contains(String.valueOf(ProcessHandle.current().pid())));
			assertThat(this.server.command("EXISTS", "{lock:A}")).isEqualTo(0L);
		});
		assertThat(output).contains("Locks are kept by the backend 'redis'").doesNotContain("maxmemory");
	}

	@Test
	void clientOfTheApplicationIsUsed() {
		this.application.withPropertyValues("spring.data.redis.client-name=shop").run((context) -> {
			long token = context.getBean(LockTemplate.class)
				.execute("A", () -> LockContext.current().orElseThrow().fencingToken());
			assertThat(token).isPositive();
			assertThat(this.server.command("CLIENT", "LIST").toString()).contains("name=shop");
		});
	}

	@Test
	void otherClientThanLettuceFailsTheStart() {
		assertFailure(this.application.withPropertyValues("spring.data.redis.client-type=jedis"),
				"needs Lettuce, but the application's RedisConnectionFactory is a JedisConnectionFactory.",
				"'spring.data.redis.client-type'", "'redisson'");
	}

	@Test
	void connectionThatIsNotSharedFailsTheStart() {
		assertFailure(this.application.withBean(RedisConnectionFactory.class, () -> {
			LettuceConnectionFactory connections = new LettuceConnectionFactory("127.0.0.1", this.server.port());
			connections.setShareNativeConnection(false);
			return connections;
		}), "shares one connection of Lettuce", "'shareNativeConnection'", "Leave it on");
	}

	@Test
	void redisAndDatabaseFailTheStartAndAreNamed() {
		assertFailure(withDatabase(), "Several lock backends are available: [jdbc, redis].",
				"Set 'holdfast.backend' to one of them.");
	}

	@Test
	void redisIsChosenBesideADatabaseWhenItIsAskedFor() {
		withDatabase().withPropertyValues("holdfast.backend=redis")
			.run((context) -> assertThat(context).getBean(LockBackend.class).hasToString("backend 'redis'"));
	}

	private ApplicationContextRunner withDatabase() {
		return this.application.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
			.withPropertyValues("spring.datasource.url=jdbc:h2:mem:redis", "holdfast.jdbc.initialize-schema=always");
	}

	@Test
	void redisWithoutConnectionFactoryFailsTheStart() {
		assertFailure(LockedApplication.local().withPropertyValues("holdfast.backend=redis"),
				"The lock backend 'redis' is asked for but not available.",
				"It needs spring-data-redis and Lettuce on the class path, and one RedisConnectionFactory bean.");
	}

	@Test
	void redisIsNoCandidateWithoutSpringDataRedis() {
		assertFailure(
				new ApplicationContextRunner()
					.withConfiguration(AutoConfigurations.of(LockBackendAutoConfiguration.class,
							DistributedLockAutoConfiguration.class))
					.withBean(LettuceConnectionFactory.class)
					.withClassLoader(new FilteredClassLoader(RedisConnectionFactory.class)),
				"No lock backend is available.");
	}

	@Test
	void severalConnectionFactoriesFailTheStart() {
		assertFailure(
				this.application.withBean("one", RedisConnectionFactory.class, LettuceConnectionFactory::new)
					.withBean("two", RedisConnectionFactory.class, LettuceConnectionFactory::new),
				"The lock backend 'redis' found several RedisConnectionFactory beans.", "@Primary");
	}

	@Test
	void redisThatCannotBeReachedFailsTheStart() {
		assertFailure(this.application.withPropertyValues("spring.data.redis.port=1"),
				"The Redis of the lock backend 'redis' could not be used", "127.0.0.1:1", "'spring.data.redis'");
	}

	@Test
	void replicaFailsTheStart() {
		try (RedisServer replica = RedisServer.start("--replicaof", "127.0.0.1", String.valueOf(this.server.port()))) {
			assertFailure(LockedApplication.redis(replica.port()), "is a replica, which takes no locks", "READONLY",
					"name the master");
		}
	}

	@Test
	void wrongPasswordFailsTheStart() {
		// Lettuce may say only that the connection was closed, and not WRONGPASS
		assertFailure(this.application.withPropertyValues("spring.data.redis.username=nobody",
				"spring.data.redis.password=wrong"), "could not be used", "the credentials");
	}

	@Test
	void userWithoutPrivilegesFailsTheStart() {
		this.server.command("ACL", "SETUSER", "reader", "on", ">pw", "~*", "&*", "-@all", "+get", "+ping");
		assertFailure(this.application.withPropertyValues("spring.data.redis.username=reader",
				"spring.data.redis.password=pw"), "refused its user", "NOPERM", "docs/redis.md");
	}

	@Test
	void userWithoutTheKeysOfTheLocksFailsTheStart() {
		this.server.command("ACL", "SETUSER", "stranger", "on", ">pw", "~other:*", "&*", "+@all");
		assertFailure(this.application.withPropertyValues("spring.data.redis.username=stranger",
				"spring.data.redis.password=pw"), "refused its user", "NOPERM", "docs/redis.md");
	}

	@Test
	@Tag("F32")
	void fullRedisFailsTheStart() {
		try (RedisServer full = RedisServer.start("--maxmemory", "1mb")) {
			full.command("CONFIG", "SET", "maxmemory", "1");
			assertFailure(LockedApplication.redis(full.port()), "has no memory left", "OOM", "'maxmemory'");
		}
	}

	@Test
	@Tag("F32")
	void policyThatEvictsLocksIsWarnedAbout(CapturedOutput output) {
		try (RedisServer evicting = RedisServer.start("--maxmemory-policy", "volatile-lru")) {
			LockedApplication.redis(evicting.port()).run((context) -> assertThat(context).hasNotFailed());
		}
		assertThat(output.getAll().lines().filter((line) -> line.contains("maxmemory-policy"))).singleElement()
			.asString()
			.contains("WARN")
			.contains("'volatile-lru'")
			.contains("'noeviction'");
	}

	@Test
	void policyThatMayNotBeReadIsLogged(CapturedOutput output) {
		this.server.command("ACL", "SETUSER", "blind", "on", ">pw", "~*", "&*", "+@all", "-info");
		this.application.withPropertyValues("spring.data.redis.username=blind", "spring.data.redis.password=pw")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).contains("The maxmemory-policy of Redis is not checked: NOPERM");
	}

	@Test
	void disabledApplicationAsksNothing() {
		this.application.withPropertyValues("holdfast.enabled=false", "spring.data.redis.port=1")
			.run((context) -> assertThat(context).hasNotFailed()
				.doesNotHaveBean(LockBackend.class)
				.doesNotHaveBean(RedisLockServerCheck.class));
	}

	@Test
	void managerThatIsDeclaredAsAnyTransactionManagerIsFenced() {
		withDatabase().withPropertyValues("holdfast.backend=redis")
			.withUserConfiguration(AnyManager.class)
			.run((context) -> assertThat(context).hasNotFailed().hasSingleBean(FenceTable.class));
	}

	@Test
	void managerThatComesAfterTheDecisionFailsTheStart() {
		ApplicationContextRunner late = withDatabase().withPropertyValues("holdfast.backend=redis")
			.withConfiguration(AutoConfigurations.of(LateManager.class));
		assertFailure(late, "The locks of the backend 'redis' have no fence, although there are transactions to check.",
				"set 'holdfast.commit-guard'");
		late.withPropertyValues("holdfast.commit-guard=lease").run((context) -> assertThat(context).hasNotFailed());
		late.withPropertyValues("holdfast.backend=local").run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void mockOfAManagerNeedsNoFence() {
		withDatabase().withPropertyValues("holdfast.backend=redis")
			.withConfiguration(AutoConfigurations.of(MockedManager.class))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(FenceTable.class));
	}

	@Test
	void releaseAfterACheckedCommitIsNotWaitedFor() {
		DatabaseAccess database = TestDatabase.H2.newDatabase();
		try (FaultProxy proxy = new FaultProxy(this.server.port())) {
			LockedApplication.jdbc(database)
				.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
				.withPropertyValues("spring.data.redis.host=127.0.0.1", "spring.data.redis.port=" + proxy.port(),
						"holdfast.backend=redis", "holdfast.commit-guard=lease")
				.run((context) -> {
					LockTemplate locks = context.getBean(LockTemplate.class).withWaitTime(Duration.ofMillis(100));
					TransactionTemplate transactions = new TransactionTemplate(
							context.getBean(PlatformTransactionManager.class));
					transactions.setName("body");
					TemplateAccess.withTransaction(locks, BodyTransaction.of("body"))
						.run("A", () -> transactions
							.executeWithoutResult((status) -> proxy.inject(FaultProxy.Fault.HOLD_REPLIES)));
					await().until(() -> this.server.command("EXISTS", "{lock:A}").equals(0L));
					assertThatExceptionOfType(LockNotAcquiredException.class)
						.as("the key stays in the local queue until the answer is there")
						.isThrownBy(() -> locks.run("A", () -> {
						}));
					proxy.inject(FaultProxy.Fault.NONE);
					locks.withWaitTime(Duration.ofSeconds(30)).run("A", () -> {
					});
				});
		}
	}

	@Test
	void closedApplicationLeavesNoConnection() {
		await().until(() -> clients() == 1);
		this.application.run((context) -> context.getBean(LockTemplate.class).run("A", () -> {
		}));
		await().until(() -> clients() == 1);
	}

	private int clients() {
		return Integer.parseInt(this.server.info("connected_clients"));
	}

	@Configuration(proxyBeanMethods = false)
	static class AnyManager {

		@Bean
		TransactionManager transactionManager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

	}

	@AutoConfiguration(after = LockBackendAutoConfiguration.class)
	static class LateManager {

		@Bean
		PlatformTransactionManager transactionManager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

	}

	@AutoConfiguration(after = LockBackendAutoConfiguration.class)
	static class MockedManager {

		@Bean
		PlatformTransactionManager transactionManager() {
			return Mockito.mock(PlatformTransactionManager.class);
		}

	}

}
