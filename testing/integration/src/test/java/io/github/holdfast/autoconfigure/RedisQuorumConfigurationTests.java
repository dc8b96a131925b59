package io.github.holdfast.autoconfigure;

import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.store.redis.RedisQuorumNodes;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.RedisQuorum;
import io.github.holdfast.testsupport.RedisServer;

import static io.github.holdfast.autoconfigure.LockBackendAutoConfigurationTests.assertFailure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Locks in the quorum that the properties list, and what the start says when it is not
 * fit for them.
 */
@ExtendWith(OutputCaptureExtension.class)
@Timeout(120)
class RedisQuorumConfigurationTests {

	private static final String LOCK = "{lock:A}";

	private final RedisQuorum quorum = new RedisQuorum();

	@AfterEach
	void stop() {
		this.quorum.close();
	}

	@Test
	void nodesOfThePropertyKeepTheLocks(CapturedOutput output) {
		application(this.quorum.nodes()).run((context) -> {
			assertThat(context).getBean(LockBackend.class).hasToString("backend 'redis'");
			context.getBean(LockTemplate.class)
				.run("A", () -> this.quorum.servers()
					.forEach((server) -> await().until(() -> server.command("EXISTS", LOCK).equals(1L))));
		});
		this.quorum.servers().forEach((server) -> await().until(() -> server.command("EXISTS", LOCK).equals(0L)));
		assertThat(output).contains("Locks are kept by the backend 'redis'")
			.doesNotContain("keeps no locks", "maxmemory-policy '");
	}

	@Test
	void locksAreInTheRedisOfTheApplicationWithoutTheProperty() {
		LockedApplication.redis(this.quorum.server(0).port())
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(RedisQuorumNodes.class));
	}

	/**
	 * A variable that is empty by mistake must not make the locks weaker.
	 */
	@ParameterizedTest
	@CsvSource(textBlock = """
			''             , 'lists 0 nodes'                   , or remove it
			a:1            , 'lists 1 nodes'                   , at least 3
			'a:1,b:1'      , 'lists 2 nodes'                   , odd number
			'a:1,b:1,c:1,d', 'lists 4 nodes'                   , odd number
			'a:1,b:1,A:1'  , 'lists ''a:1'' twice'             , once
			'a,b,redis://x@a:6379/2', 'lists ''a:6379'' twice' , once
			'a:1,b:one,c:1', Entry 2 of                        , host:port
			'a:1,b:1,http://c:1', Entry 3 of                   , host:port
			'a:1,b:1,redis-sentinel://c:1', Entry 3 of         , host:port
			""")
	void badListFailsTheStart(String nodes, String found, String action) {
		assertFailure(application(List.of(nodes)), "'holdfast.redis.quorum.nodes'", found, action);
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
	void sameServerUnderTwoNamesFailsTheStart() {
		String port = ":" + this.quorum.server(0).port();
		assertFailure(application(List.of("127.0.0.1" + port, "localhost" + port, this.quorum.nodes().get(1))),
				"are the same Redis server", "once");
	}

	@Test
	void otherClientThanLettuceFailsTheStart() {
		assertFailure(application(this.quorum.nodes()).withPropertyValues("spring.data.redis.client-type=jedis"),
				"needs Lettuce", "'spring.data.redis.client-type'");
	}

	@Test
	void nodeThatKeepsNoLocksIsWarnedAbout(CapturedOutput output) {
		try (RedisServer replica = RedisServer.start("--replicaof", "127.0.0.1",
				String.valueOf(this.quorum.server(0).port()))) {
			application(List.of(this.quorum.nodes().get(0), this.quorum.nodes().get(1), "127.0.0.1:" + replica.port()))
				.run((context) -> {
					assertThat(context).hasNotFailed();
					context.getBean(LockTemplate.class).run("A", () -> {
					});
				});
			assertThat(output).contains("The node 127.0.0.1:" + replica.port() + " of 'holdfast.redis.quorum.nodes'")
				.contains("READONLY");
		}
	}

	@Test
	void sharedAndFairLocksFailTheStart() {
		assertFailure(application(this.quorum.nodes()).withBean(RedissonLockConfigurationTests.SharedMethod.class),
				"asks for [SHARED]", "'redis' without a quorum");
		assertFailure(application(this.quorum.nodes()).withBean(RedissonLockConfigurationTests.FairMethod.class),
				"asks for [FAIR]", "'redis' without a quorum");
	}

	@Test
	void majorityThatCannotBeReachedFailsTheStart() {
		this.quorum.server(0).kill();
		this.quorum.server(1).kill();
		assertFailure(application(this.quorum.nodes()), "could not be used", "'holdfast.redis.quorum.nodes'");
	}

	@Test
	void evictingNodeIsWarnedAbout(CapturedOutput output) {
		this.quorum.server(1).command("CONFIG", "SET", "maxmemory-policy", "volatile-lru");
		application(this.quorum.nodes()).run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).contains("maxmemory-policy 'volatile-lru'");
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
				assertThat(this.quorum.server(0).command("CLIENT", "LIST").toString()).contains("user=app")
					.contains("name=shop");
				assertThat(this.quorum.server(2).command("CLIENT", "LIST").toString()).contains("user=own")
					.doesNotContain("user=app");
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

}
