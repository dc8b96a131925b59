package io.github.holdfast.autoconfigure;

import java.nio.charset.StandardCharsets;
import java.util.List;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.options.GetOption;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
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
import io.github.holdfast.testsupport.EtcdServer;
import io.github.holdfast.testsupport.EtcdUsers;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.RequiresEtcd;
import io.github.holdfast.testsupport.ServerCertificate;

import static io.github.holdfast.autoconfigure.LockBackendAutoConfigurationTests.assertFailure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Locks in etcd from an application, and what the start says when etcd or the settings
 * are not fit for them.
 */
@ExtendWith(OutputCaptureExtension.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
@RequiresEtcd
class EtcdLockConfigurationTests {

	private EtcdServer server;

	private Client client;

	private ApplicationContextRunner application;

	@BeforeAll
	void start() {
		this.server = EtcdServer.shared();
		this.client = Client.builder().endpoints(this.server.endpoint()).build();
		this.application = LockedApplication.etcd(this.server.endpoint());
	}

	@AfterAll
	void close() {
		this.client.close();
	}

	@Test
	void etcdIsChosenWhenItsEndpointsAreSet(CapturedOutput output) {
		this.application.run((context) -> {
			assertThat(context).getBean(LockBackend.class)
				.isInstanceOf(HandoverLockBackend.class)
				.hasToString("backend 'etcd'");
			context.getBean(LockTemplate.class)
				.run("A/1",
						() -> assertThat(keys("/holdfast/locks/lock:A%2f1/exclusive/")).singleElement()
							.extracting((entry) -> entry.getValue().toString(StandardCharsets.UTF_8))
							.asString()
							.contains(String.valueOf(ProcessHandle.current().pid())));
			assertThat(keys("/holdfast/locks/lock:A%2f1/")).isEmpty();
		});
		assertThat(output).contains("Locks are kept by the backend 'etcd'");
	}

	@Test
	void namespaceIsInFrontOfAllKeys() {
		this.application.withPropertyValues("holdfast.etcd.namespace=/shop/")
			.run((context) -> context.getBean(LockTemplate.class)
				.run("A", () -> assertThat(keys("/shop/locks/lock:A/")).hasSize(1)));
	}

	@Test
	void clientOfTheApplicationIsUsedAndNotClosed() {
		LockedApplication.local()
			.withPropertyValues("holdfast.backend=")
			.withBean(Client.class, () -> this.client, (definition) -> definition.setDestroyMethodName(""))
			.run((context) -> {
				assertThat(context).getBean(LockBackend.class).hasToString("backend 'etcd'");
				context.getBean(LockTemplate.class)
					.run("B", () -> assertThat(keys("/holdfast/locks/lock:B/")).hasSize(1));
			});
		assertThat(keys("/holdfast/locks/lock:B/")).isEmpty();
	}

	@Test
	void endpointsWinOverTheClientOfTheApplication() {
		this.application.withBean(Client.class, () -> Client.builder().endpoints("http://127.0.0.1:1").build())
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void severalClientsFailTheStart() {
		assertFailure(
				LockedApplication.local()
					.withPropertyValues("holdfast.backend=etcd")
					.withBean("one", Client.class, () -> Client.builder().endpoints("http://127.0.0.1:1").build())
					.withBean("two", Client.class, () -> Client.builder().endpoints("http://127.0.0.1:1").build()),
				"The lock backend 'etcd' found several Client beans.", "@Primary", "'holdfast.etcd.endpoints'");
	}

	@Test
	void etcdWithoutClientAndEndpointsFailsTheStart() {
		assertFailure(LockedApplication.local().withPropertyValues("holdfast.backend=etcd"),
				"The lock backend 'etcd' is asked for but not available.",
				"It needs jetcd-core on the class path, and 'holdfast.etcd.endpoints' or one Client bean.");
	}

	@Test
	void etcdIsNoCandidateWithoutItsClasses() {
		assertFailure(this.application.withPropertyValues("holdfast.backend=etcd")
			.withClassLoader(new FilteredClassLoader(Client.class)), "is asked for but not available.");
	}

	@Test
	void databaseIsACandidateToo() {
		assertFailure(this.application.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
			.withPropertyValues("spring.datasource.url=jdbc:h2:mem:etcd", "holdfast.jdbc.initialize-schema=always"),
				"Several lock backends are available: [etcd, jdbc].", "Set 'holdfast.backend' to one of them.");
	}

	@Test
	void fairAndSharedLocksStartAndOptimisticOnesDoNot() {
		this.application.withBean(SharedMethod.class).withBean(FairMethod.class).run((context) -> {
			assertThat(context).hasNotFailed();
			context.getBean(SharedMethod.class).run();
			context.getBean(FairMethod.class).run();
		});
		this.application.withBean(OptimisticMethod.class)
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining("asks for [OPTIMISTIC], but backend 'etcd' offers"));
	}

	@Test
	void etcdThatCannotBeReachedFailsTheStart() {
		assertFailure(LockedApplication.etcd("127.0.0.1:1"), "The etcd of the lock backend 'etcd' could not be used",
				"127.0.0.1:1", "Check 'holdfast.etcd'");
	}

	@Test
	void etcdThatDoesNotAnswerFailsTheStart() {
		try (FaultProxy proxy = new FaultProxy(this.server.port())) {
			proxy.inject(FaultProxy.Fault.BLACKHOLE);
			assertFailure(LockedApplication.etcd("127.0.0.1:" + proxy.port()), "etcd did not answer in time",
					"Check 'holdfast.etcd'");
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "http://", "ftp://host:2379", "host name:2379", "http://user:secret@host:2379",
			"https://host:2379,http://other:2379" })
	void endpointThatIsNoneFailsTheStart(String endpoint) {
		assertFailure(LockedApplication.etcd(endpoint), "One of 'holdfast.etcd.endpoints' is no address of etcd",
				"Write 'host:port'");
	}

	@ParameterizedTest
	@ValueSource(strings = { "username=holdfast", "password=secret", "ssl.bundle=etcd" })
	void whatTheClientOfTheApplicationDoesNotUseFailsTheStart(String property) {
		assertFailure(
				LockedApplication.local()
					.withPropertyValues("holdfast.backend=etcd", "holdfast.etcd." + property)
					.withBean(Client.class, () -> this.client, (definition) -> definition.setDestroyMethodName("")),
				"are not those of the application's Client bean.", "Set 'holdfast.etcd.endpoints'");
	}

	@Test
	void userWithoutPasswordFailsTheStart() {
		assertFailure(this.application.withPropertyValues("holdfast.etcd.username=holdfast"),
				"etcd needs both a user name and a password, or none.");
	}

	@Test
	void userNeedsNoMoreThanTheNamespace() {
		try (EtcdServer asking = EtcdServer.start()) {
			EtcdUsers.create(asking);
			ApplicationContextRunner asUser = LockedApplication.etcd(asking.endpoint())
				.withPropertyValues("holdfast.etcd.password=" + EtcdUsers.PASSWORD);
			asUser.withPropertyValues("holdfast.etcd.username=" + EtcdUsers.HOLDFAST).run((context) -> {
				assertThat(context).hasNotFailed();
				context.getBean(LockTemplate.class).run("A", () -> {
				});
			});
			assertFailure(asUser.withPropertyValues("holdfast.etcd.username=" + EtcdUsers.OTHER), "refused its user",
					"permission denied", "'holdfast.etcd.namespace'");
			assertFailure(
					asUser.withPropertyValues("holdfast.etcd.username=" + EtcdUsers.HOLDFAST,
							"holdfast.etcd.password=wrong"),
					"did not accept its user", "'holdfast.etcd.username' and 'holdfast.etcd.password'");
			assertFailure(LockedApplication.etcd(asking.endpoint()), "did not accept its user", "user name is empty");
		}
	}

	@Test
	void connectionIsEncryptedWithTheBundle() {
		try (ServerCertificate certificate = new ServerCertificate();
				EtcdServer encrypted = EtcdServer.start("--cert-file", certificate.certificate().toString(),
						"--key-file", certificate.key().toString())) {
			ApplicationContextRunner withSsl = LockedApplication.etcd(encrypted.endpoint())
				.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class));
			withSsl
				.withPropertyValues("holdfast.etcd.ssl.bundle=etcd",
						"spring.ssl.bundle.pem.etcd.truststore.certificate=file:" + certificate.certificate())
				.run((context) -> assertThat(context).hasNotFailed());
			assertFailure(withSsl, "The etcd of the lock backend 'etcd' could not be used");
		}
	}

	@Test
	void disabledApplicationAsksNothing() {
		this.application.withPropertyValues("holdfast.enabled=false")
			.run((context) -> assertThat(context).hasNotFailed()
				.doesNotHaveBean(LockBackend.class)
				.doesNotHaveBean(EtcdLockClient.class));
	}

	@Test
	void closedApplicationLeavesNoConnection() {
		try (FaultProxy proxy = new FaultProxy(this.server.port())) {
			LockedApplication.etcd("127.0.0.1:" + proxy.port()).run((context) -> {
				context.getBean(LockTemplate.class).run("A", () -> {
				});
				assertThat(proxy.connections()).isPositive();
			});
			await().until(() -> proxy.connections() == 0);
		}
	}

	private List<KeyValue> keys(String prefix) {
		return this.client.getKVClient()
			.get(ByteSequence.from(prefix, StandardCharsets.UTF_8), GetOption.builder().isPrefix(true).build())
			.join()
			.getKvs();
	}

	static class SharedMethod {

		@DistributedLock(key = "'A'", mode = LockMode.SHARED)
		public void run() {
		}

	}

	static class FairMethod {

		@DistributedLock(key = "'A'", fair = true)
		public void run() {
		}

	}

	static class OptimisticMethod {

		@DistributedLock(key = "'A'", mode = LockMode.OPTIMISTIC)
		public void run() {
		}

	}

}
