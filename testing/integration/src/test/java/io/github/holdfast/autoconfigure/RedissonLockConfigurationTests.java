package io.github.holdfast.autoconfigure;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.redisson.api.RedissonClient;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockBackend;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.store.HandoverLockBackend;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedissonClients;

import static io.github.holdfast.autoconfigure.LockBackendAutoConfigurationTests.assertFailure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Locks through the Redisson client of an application, and what the start says when it is
 * not fit for them.
 */
@ExtendWith(OutputCaptureExtension.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
class RedissonLockConfigurationTests {

	private final RedisServer server = RedisServer.start();

	private final ApplicationContextRunner withoutChoice = LockedApplication.redisson(this.server.port());

	private final ApplicationContextRunner application = this.withoutChoice
		.withPropertyValues("holdfast.backend=redisson");

	@AfterAll
	void stop() {
		this.server.close();
	}

	@Test
	void redissonIsChosenWhenItIsAskedFor(CapturedOutput output) {
		this.application.run((context) -> {
			assertThat(context).getBean(LockBackend.class)
				.isInstanceOf(HandoverLockBackend.class)
				.hasToString("backend 'redisson'");
			LockBackendTypeTests.assertOffers(context.getBean(LockBackend.class), LockBackendType.REDISSON);
			context.getBean(LockTemplate.class).run("A", () -> {
				assertThat(this.server.command("HGET", "{lock:A}", "holder").toString())
					.contains(String.valueOf(ProcessHandle.current().pid()));
				assertThat(this.server.command("HLEN", "{lock:A}")).isEqualTo(3L);
			});
			assertThat(this.server.command("EXISTS", "{lock:A}")).isEqualTo(0L);
		});
		assertThat(output).contains("Locks are kept by the backend 'redisson'").doesNotContain("maxmemory");
	}

	@Test
	void startersConnectionsMakeRedisACandidateToo() {
		assertFailure(this.withoutChoice, "Several lock backends are available: [redis, redisson].",
				"Set 'holdfast.backend' to one of them.", "that is 'redisson'");
	}

	@Test
	void databaseIsACandidateToo() {
		assertFailure(this.withoutChoice.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
			.withPropertyValues("spring.datasource.url=jdbc:h2:mem:redisson", "holdfast.jdbc.initialize-schema=always"),
				"Several lock backends are available: [jdbc, redis, redisson].");
	}

	@Test
	void backendRedisOnTheStartersConnectionsFailsTheStart() {
		assertFailure(this.withoutChoice.withPropertyValues("holdfast.backend=redis"),
				"needs Lettuce, but the application's RedisConnectionFactory is a RedissonConnectionFactory.",
				"set 'holdfast.backend' to 'redisson'");
	}

	@Test
	void clientOfTheApplicationAloneIsEnough() {
		LockedApplication.local()
			.withPropertyValues("holdfast.backend=")
			.withBean(RedissonClient.class, () -> RedissonClients.single(this.server.port()))
			.run((context) -> assertThat(context).getBean(LockBackend.class).hasToString("backend 'redisson'"));
	}

	@Test
	void redissonWithoutClientFailsTheStart() {
		assertFailure(LockedApplication.local().withPropertyValues("holdfast.backend=redisson"),
				"The lock backend 'redisson' is asked for but not available.",
				"It needs redisson on the class path and one RedissonClient bean.");
	}

	@Test
	void redissonIsNoCandidateWithoutItsClasses() {
		assertFailure(LockedApplication.local()
			.withPropertyValues("holdfast.backend=redisson")
			.withClassLoader(new FilteredClassLoader(RedissonClient.class)), "is asked for but not available.");
	}

	@Test
	void severalClientsFailTheStart() {
		assertFailure(
				LockedApplication.local()
					.withPropertyValues("holdfast.backend=redisson")
					.withBean("one", RedissonClient.class, () -> RedissonClients.single(this.server.port()))
					.withBean("two", RedissonClient.class, () -> RedissonClients.single(this.server.port())),
				"The lock backend 'redisson' found several RedissonClient beans.", "@Primary");
	}

	@Test
	void fairAndSharedLocksStart() {
		this.application.withBean(FairMethod.class).run((context) -> {
			assertThat(context).hasNotFailed();
			context.getBean(FairMethod.class).run();
		});
		this.application.withBean(SharedMethod.class).run((context) -> {
			assertThat(context).hasNotFailed();
			context.getBean(SharedMethod.class).run();
		});
	}

	@Test
	void redisThatCannotBeReachedFailsTheStart() {
		this.application.withPropertyValues("spring.data.redis.port=1")
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining("Unable to connect to Redis server: 127.0.0.1/127.0.0.1:1"));
	}

	@Test
	void redisThatALazyClientCannotReachFailsTheStart() {
		assertFailure(LockedApplication.local()
			.withPropertyValues("holdfast.backend=redisson")
			.withBean(RedissonClient.class, () -> RedissonClients.create((config) -> {
				config.setLazyInitialization(true);
				config.useSingleServer().setAddress("redis://127.0.0.1:1").setRetryAttempts(1);
			})), "The Redis of the lock backend 'redisson' could not be used", "127.0.0.1:1",
				"the configuration of the RedissonClient");
	}

	@Test
	void replicaFailsTheStart() {
		try (RedisServer replica = RedisServer.start("--replicaof", "127.0.0.1", String.valueOf(this.server.port()))) {
			assertFailure(LockedApplication.redisson(replica.port()).withPropertyValues("holdfast.backend=redisson"),
					"is a replica, which takes no locks", "READONLY", "name the master");
		}
	}

	@Test
	void userWithoutPrivilegesFailsTheStart() {
		this.server.command("ACL", "SETUSER", "reader", "on", ">pw", "~*", "&*", "-@all", "+get", "+ping");
		assertFailure(this.application.withPropertyValues("spring.data.redis.username=reader",
				"spring.data.redis.password=pw"), "refused its user", "NOPERM", "docs/redis.md");
	}

	@Test
	void fullRedisFailsTheStart() {
		try (RedisServer full = RedisServer.start("--maxmemory", "1mb")) {
			full.command("CONFIG", "SET", "maxmemory", "1");
			assertFailure(LockedApplication.redisson(full.port()).withPropertyValues("holdfast.backend=redisson"),
					"has no memory left", "command not allowed", "'maxmemory'");
		}
	}

	@Test
	void policyThatEvictsLocksIsWarnedAbout(CapturedOutput output) {
		try (RedisServer evicting = RedisServer.start("--maxmemory-policy", "volatile-lru")) {
			LockedApplication.redisson(evicting.port())
				.withPropertyValues("holdfast.backend=redisson")
				.run((context) -> assertThat(context).hasNotFailed());
		}
		assertThat(output).contains("WARN").contains("'volatile-lru'").contains("'noeviction'");
	}

	@Test
	void policyThatMayNotBeReadIsLogged(CapturedOutput output) {
		this.server.command("ACL", "SETUSER", "blind", "on", ">pw", "~*", "&*", "+@all", "-info");
		this.application.withPropertyValues("spring.data.redis.username=blind", "spring.data.redis.password=pw")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).contains("The maxmemory-policy of Redis is not checked: ");
	}

	@Test
	void disabledApplicationAsksNothing() {
		this.withoutChoice.withPropertyValues("holdfast.enabled=false")
			.run((context) -> assertThat(context).hasNotFailed()
				.doesNotHaveBean(LockBackend.class)
				.doesNotHaveBean(RedisLockServerCheck.class));
	}

	@Test
	void closedApplicationLeavesNoConnection() {
		await().until(() -> this.server.info("connected_clients").equals("1"));
		this.application.run((context) -> context.getBean(LockTemplate.class).run("A", () -> {
		}));
		await().until(() -> this.server.info("connected_clients").equals("1"));
	}

	static class FairMethod {

		@DistributedLock(key = "'A'", fair = true)
		public void run() {
		}

	}

	static class SharedMethod {

		@DistributedLock(key = "'A'", mode = LockMode.SHARED)
		public void run() {
		}

	}

}
