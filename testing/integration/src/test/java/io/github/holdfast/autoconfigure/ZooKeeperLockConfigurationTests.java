package io.github.holdfast.autoconfigure;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.event.ContextClosedEvent;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockBackend;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.store.HandoverLockBackend;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.ZooKeeperServer;

import static io.github.holdfast.autoconfigure.LockBackendAutoConfigurationTests.assertFailure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Locks in ZooKeeper through a client of their own or the application's, and what the
 * start says when there is none that can take a lock.
 */
@ExtendWith(OutputCaptureExtension.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
class ZooKeeperLockConfigurationTests {

	private final ZooKeeperServer server = ZooKeeperServer.start();

	private final ApplicationContextRunner withoutClient = LockedApplication.local()
		.withPropertyValues("holdfast.backend=");

	private final ApplicationContextRunner application = this.withoutClient
		.withPropertyValues("holdfast.zookeeper.connect-string=127.0.0.1:" + this.server.port());

	@AfterAll
	void stop() {
		this.server.close();
	}

	@Test
	void clientOfItsOwnIsCreatedAndClosedAfterTheLocks(CapturedOutput output) {
		AtomicReference<CuratorFramework> client = new AtomicReference<>();
		AtomicReference<CuratorFrameworkState> stateAtRelease = new AtomicReference<>();
		LockListener atRelease = new LockListener() {

			@Override
			public void onReleased(Call call, Outcome outcome, Duration holdTime) {
				stateAtRelease.set(client.get().getState());
			}

		};
		CountDownLatch closing = new CountDownLatch(1);
		this.application.withPropertyValues("holdfast.zookeeper.session-timeout=4s")
			.withBean(LockListener.class, () -> atRelease)
			.withInitializer((context) -> context.addApplicationListener((event) -> {
				if (event instanceof ContextClosedEvent) {
					closing.countDown();
				}
			}))
			.run((context) -> {
				assertThat(context).getBean(LockBackend.class)
					.isInstanceOf(HandoverLockBackend.class)
					.hasToString("backend 'zookeeper'");
				assertThat(context).doesNotHaveBean(CuratorFramework.class);
				client.set(context.getBean(ZooKeeperLockClient.class).get());
				LockTemplate locks = context.getBean(LockTemplate.class);
				CountDownLatch held = new CountDownLatch(1);
				new Thread(() -> locks.run("A", () -> {
					held.countDown();
					await().forever().until(() -> closing.getCount() == 0);
				})).start();
				held.await();
			});
		assertThat(stateAtRelease.get()).isEqualTo(CuratorFrameworkState.STARTED);
		assertThat(client.get().getState()).isEqualTo(CuratorFrameworkState.STOPPED);
		assertThat(output).contains("Locks are kept by the backend 'zookeeper'")
			.contains("are freed 4000 ms after it has died")
			.contains("'holdfast.lease-time' is not used");
	}

	@Test
	void clientOfTheApplicationIsUsedAndLeftOpen() {
		CuratorFramework client = this.server.client();
		try (client) {
			this.withoutClient
				.withBean(CuratorFramework.class, () -> client, (definition) -> definition.setDestroyMethodName(""))
				.run((context) -> {
					assertThat(context).getBean(LockBackend.class).hasToString("backend 'zookeeper'");
					context.getBean(LockTemplate.class)
						.run("A", () -> assertThat(context.getBean(ZooKeeperLockClient.class).get()).isSameAs(client));
				});
			assertThat(client.getState()).isEqualTo(CuratorFrameworkState.STARTED);
		}
	}

	@Test
	void connectStringWinsOverTheClientOfTheApplication() {
		this.application.withBean(CuratorFramework.class, () -> ZooKeeperServer.client(1))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void databaseIsACandidateToo() {
		assertFailure(
				this.application.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
					.withPropertyValues("spring.datasource.url=jdbc:h2:mem:zookeeper",
							"holdfast.jdbc.initialize-schema=always"),
				"Several lock backends are available: [jdbc, zookeeper].");
	}

	@Test
	void curatorOnTheClassPathAloneIsNoCandidate() {
		assertFailure(this.withoutClient, "No lock backend is available.", "'zookeeper' needs curator-framework");
	}

	@Test
	void backendWithoutClientFailsTheStart() {
		assertFailure(this.withoutClient.withPropertyValues("holdfast.backend=zookeeper"),
				"The lock backend 'zookeeper' is asked for but not available.",
				"'holdfast.zookeeper.connect-string' or one CuratorFramework bean.");
	}

	@Test
	void backendWithoutItsClassesFailsTheStart() {
		assertFailure(
				this.application.withPropertyValues("holdfast.backend=zookeeper")
					.withClassLoader(new FilteredClassLoader(CuratorFramework.class)),
				"is asked for but not available.");
	}

	@Test
	void severalClientsFailTheStart() {
		assertFailure(
				this.withoutClient.withPropertyValues("holdfast.backend=zookeeper")
					.withBean("one", CuratorFramework.class, this.server::client)
					.withBean("two", CuratorFramework.class, this.server::client),
				"The lock backend 'zookeeper' found several CuratorFramework beans.", "@Primary");
	}

	@Test
	void clientThatIsNotStartedFailsTheStart() {
		assertFailure(
				this.withoutClient.withBean(CuratorFramework.class,
						() -> CuratorFrameworkFactory.newClient("127.0.0.1:1", new RetryOneTime(1))),
				"The CuratorFramework bean was not started.", "initMethod");
	}

	@Test
	void serversThatCannotBeReachedFailTheStart() {
		assertFailure(
				this.withoutClient.withPropertyValues("holdfast.zookeeper.connect-string=127.0.0.1:1",
						"holdfast.zookeeper.connection-timeout=500ms"),
				"could not be reached within 500 ms", "Check 'holdfast.zookeeper.connect-string'");
	}

	@Test
	void connectStringThatIsNotUnderstoodFailsTheStart() {
		assertFailure(this.withoutClient.withPropertyValues("holdfast.zookeeper.connect-string=127.0.0.1:x"),
				"The addresses '127.0.0.1:x' of ZooKeeper are not understood", "'host1:2181,host2:2181/path'");
	}

	@ParameterizedTest
	@ValueSource(strings = { "username=shop", "password=secret" })
	void halfOfTheCredentialsFailsTheStart(String half) {
		assertFailure(this.application.withPropertyValues("holdfast.zookeeper." + half),
				"ZooKeeper needs both a user name and a password, or none.");
	}

	@Test
	void emptyUserIsNone() {
		this.application.withPropertyValues("holdfast.zookeeper.username=")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void credentialsBesideTheClientOfTheApplicationFailTheStart() {
		assertFailure(
				this.withoutClient.withBean(CuratorFramework.class, this.server::client)
					.withPropertyValues("holdfast.zookeeper.username=shop", "holdfast.zookeeper.password=secret"),
				"'holdfast.zookeeper.username' is not that of the application's CuratorFramework bean.",
				"Set 'holdfast.zookeeper.connect-string'");
	}

	@Test
	void nodesBelongToTheUserAndOthersAreRefused() throws Exception {
		try (CuratorFramework client = this.server.client()) {
			client.create().forPath("/shop");
		}
		ApplicationContextRunner below = this.withoutClient
			.withPropertyValues("holdfast.zookeeper.connect-string=127.0.0.1:" + this.server.port() + "/shop");
		ApplicationContextRunner user = below.withPropertyValues("holdfast.zookeeper.username=shop",
				"holdfast.zookeeper.password=secret");
		user.run((context) -> context.getBean(LockTemplate.class)
			.run("A", () -> assertThat(acl("/shop/holdfast/locks/lock:A")).hasSize(1).allSatisfy((acl) -> {
				assertThat(acl.getId().getScheme()).isEqualTo("digest");
				assertThat(acl.getId().getId()).startsWith("shop:");
				assertThat(acl.getPerms()).isEqualTo(ZooDefs.Perms.ALL);
			})));
		user.run((context) -> assertThat(context).hasNotFailed());
		assertFailure(user.withPropertyValues("holdfast.zookeeper.password=wrong"), "refused access", "NoAuth",
				"docs/zookeeper.md");
		assertFailure(below, "refused access");
	}

	@Test
	void nodesGetTheAclOfTheirRoot() throws Exception {
		byte[] auth = "owner:secret".getBytes(StandardCharsets.UTF_8);
		try (CuratorFramework owner = CuratorFrameworkFactory.builder()
			.connectString("127.0.0.1:" + this.server.port())
			.retryPolicy(new RetryOneTime(1))
			.authorization("digest", auth)
			.build()) {
			owner.start();
			List<ACL> acl = List.of(new ACL(ZooDefs.Perms.ALL, new Id("auth", "")),
					new ACL(ZooDefs.Perms.READ, new Id("world", "anyone")));
			owner.create().creatingParentsIfNeeded().withACL(acl).forPath("/watched/holdfast/locks");
			this.withoutClient.withBean(CuratorFramework.class, () -> owner.usingNamespace("watched"))
				.run((context) -> context.getBean(LockTemplate.class)
					.run("A", () -> assertThat(acl("/watched/holdfast/locks/lock:A"))
						.containsExactlyInAnyOrderElementsOf(acl("/watched/holdfast/locks"))));
		}
	}

	@Test
	void sharedAndFairLocksStart() {
		this.application.withBean(FairMethod.class).withBean(SharedMethod.class).run((context) -> {
			assertThat(context).hasNotFailed();
			context.getBean(FairMethod.class).run();
			context.getBean(SharedMethod.class).run();
		});
	}

	@Test
	void disabledApplicationAsksNothing() {
		this.application.withPropertyValues("holdfast.enabled=false")
			.run((context) -> assertThat(context).hasNotFailed()
				.doesNotHaveBean(LockBackend.class)
				.doesNotHaveBean(ZooKeeperLockClient.class));
	}

	@Test
	void pathThatIsNotThereIsNamedWithWhatToDo() {
		assertFailure(
				this.withoutClient.withPropertyValues("holdfast.zookeeper.connection-timeout=3s",
						"holdfast.zookeeper.connect-string=127.0.0.1:" + this.server.port() + "/apps/shop"),
				"has no node '/apps/shop', the path behind the addresses of 'holdfast.zookeeper.connect-string'",
				"Create it", "or leave it away");
	}

	@Test
	void propertiesHaveTheirDefaults() {
		this.application.run((context) -> {
			LockProperties.ZooKeeper properties = context.getBean(LockProperties.ZooKeeper.class);
			assertThat(properties.sessionTimeout()).isEqualTo(Duration.ofSeconds(30));
			assertThat(properties.connectionTimeout()).isEqualTo(Duration.ofSeconds(15));
		});
	}

	private List<ACL> acl(String path) throws Exception {
		try (CuratorFramework client = this.server.client()) {
			client.getZookeeperClient().getZooKeeper().addAuthInfo("digest", "shop:secret".getBytes());
			return client.getACL().forPath(path);
		}
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
