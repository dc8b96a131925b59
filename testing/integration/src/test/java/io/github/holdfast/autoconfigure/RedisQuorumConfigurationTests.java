package io.github.holdfast.autoconfigure;

import java.util.List;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockBackend;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.store.redis.RedisLockBackend;
import io.github.holdfast.store.redis.RedisQuorumLockBackend;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.RedisQuorum;

import static io.github.holdfast.autoconfigure.LockedApplication.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Locks in the quorum of the properties, and starts that find it unfit. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
class RedisQuorumConfigurationTests {

	private static final String LOCK = "holdfast:A";

	@AutoClose
	private final RedisQuorum quorum = new RedisQuorum();

	@Test
	void nodesOfThePropertyKeepTheLocks() {
		application(this.quorum.nodes()).run((context) -> {
			assertThat(context).getBean(LockBackend.class).isInstanceOf(RedisQuorumLockBackend.class);
			context.getBean(LockTemplate.class)
				.run("A", () -> this.quorum.servers()
					.forEach((server) -> await().until(() -> server.command("EXISTS", LOCK).equals(1L))));
		});
		this.quorum.servers().forEach((server) -> await().until(() -> server.command("EXISTS", LOCK).equals(0L)));
	}

	@Test
	void locksAreInTheRedisOfTheApplicationWithoutTheProperty() {
		LockedApplication.redis(this.quorum.server(0).port())
			.run((context) -> assertThat(context).getBean(LockBackend.class).isInstanceOf(RedisLockBackend.class));
	}

	/** A variable that is empty by mistake must not make the locks weaker. */
	@ParameterizedTest
	@CsvSource(textBlock = """
			''             , 'lists 0 nodes'                   , or remove the property
			a:1            , 'lists 1 nodes'                   , at least three
			'a:1,b:1'      , 'lists 2 nodes'                   , odd number
			'a:1,b:1,c:1,d', 'lists 4 nodes'                   , odd number
			'a:1,b:1,A:1'  , 'lists 3 nodes, 2 of them different', once
			'a,b,redis://x@a:6379/2', 'lists 3 nodes, 2 of them different', once
			'a:1,b:one,c:1', Entry 2 of                        , host:port
			'a:1,b:1,http://c:1', Entry 3 of                   , host:port
			""")
	void badListFailsTheStart(String nodes, String found, String action) {
		assertRefused(application(List.of(nodes)), "'holdfast.redis.quorum.nodes'", found, action);
	}

	@Test
	void passwordOfABadEntryIsNotShown() {
		application(List.of("a:1", "b:1", "http://user:topsecret@c:1")).run((context) -> {
			assertThat(context).hasFailed();
			for (Throwable cause = context.getStartupFailure(); cause != null; cause = cause.getCause()) {
				assertThat(cause.toString()).doesNotContain("topsecret");
			}
		});
	}

	@Test
	void otherClientThanLettuceFailsTheStart() {
		assertRefused(application(this.quorum.nodes()).withPropertyValues("spring.data.redis.client-type=jedis"),
				"needs Lettuce", "'spring.data.redis.client-type'");
	}

	@Test
	void sharedAndFairLocksFailTheStart() {
		assertRefused(application(this.quorum.nodes()).withBean(SharedMethod.class), "needs SHARED", "remove 'mode'");
		assertRefused(application(this.quorum.nodes()).withBean(FairMethod.class), "needs FAIR", "remove 'mode'");
	}

	@Test
	void majorityThatCannotBeReachedFailsTheStart() {
		assertRefused(application(List.of(this.quorum.nodes().get(0), "127.0.0.1:1", "127.0.0.1:2")),
				"The lock backend 'redis' cannot be used", "Check that the store is running");
	}

	@Test
	void credentialsAreThoseOfTheApplicationUnlessANodeHasItsOwn() {
		this.quorum.servers().forEach((server) -> {
			server.command("ACL", "SETUSER", "app", "on", ">common", "~*", "&*", "+@all");
			server.command("ACL", "SETUSER", "own", "on", ">special", "~*", "&*", "+@all");
		});
		List<String> nodes = List.of(this.quorum.nodes().get(0), this.quorum.nodes().get(1),
				"redis://own:special@" + this.quorum.nodes().get(2));
		application(nodes)
			.withPropertyValues("spring.data.redis.username=app", "spring.data.redis.password=common",
					"spring.data.redis.client-name=shop")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				await().untilAsserted(() -> {
					assertThat(this.quorum.server(0).command("CLIENT", "LIST").toString()).contains("user=app")
						.contains("name=shop");
					assertThat(this.quorum.server(2).command("CLIENT", "LIST").toString()).contains("user=own")
						.doesNotContain("user=app");
				});
			});
	}

	@Test
	void closedApplicationLeavesNoConnection() {
		application(this.quorum.nodes()).run((context) -> context.getBean(LockTemplate.class).run("A", () -> {
		}));
		this.quorum.servers()
			.forEach((server) -> await().until(() -> Integer.parseInt(server.info("connected_clients")) == 1));
	}

	private static ApplicationContextRunner application(List<String> nodes) {
		return LockedApplication.redis(1).withPropertyValues("holdfast.redis.quorum.nodes=" + String.join(",", nodes));
	}

	static class SharedMethod {

		@DistributedLock(key = "'A'", mode = LockMode.SHARED)
		public void read() {
		}

	}

	static class FairMethod {

		@DistributedLock(key = "'A'", fair = true)
		public void call() {
		}

	}

}
