package io.github.holdfast.autoconfigure;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.json.JsonParserFactory;
import org.springframework.boot.sql.init.DatabaseInitializationMode;

import io.github.holdfast.interceptor.DistributedLockAdvisor;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.transaction.CommitGuardLevel;
import io.github.holdfast.transaction.OnActiveTransaction;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What can be configured, and what an IDE shows of it.
 */
class LockPropertiesTests {

	/** Their defaults depend on what is there, or they have none. */
	private static final Set<String> WITHOUT_DEFAULT = Set.of("holdfast.backend", "holdfast.commit-guard",
			"holdfast.jdbc.platform", "holdfast.fence.source", "holdfast.fenced-transaction-managers",
			"holdfast.unguarded-transaction-managers", "holdfast.locks", "holdfast.redis.quorum.nodes",
			"holdfast.etcd.endpoints", "holdfast.etcd.username", "holdfast.etcd.password", "holdfast.etcd.ssl.bundle",
			"holdfast.zookeeper.connect-string", "holdfast.zookeeper.username", "holdfast.zookeeper.password",
			"holdfast.warn-after.waited", "holdfast.warn-after.held");

	@Test
	void propertiesHaveTheirDefaults() {
		LockedApplication.local().run((context) -> {
			LockProperties properties = context.getBean(LockProperties.class);
			assertThat(properties.isEnabled()).isTrue();
			assertThat(properties.getKeyPrefix()).isEqualTo("lock:");
			assertThat(properties.getWaitTime()).isEqualTo(Duration.ofSeconds(5));
			assertThat(properties.getLeaseTime()).isEqualTo(Duration.ofSeconds(30));
			assertThat(properties.getCommitGuard()).isNull();
			assertThat(properties.getOnActiveTransaction()).isEqualTo(OnActiveTransaction.REJECT);
			assertThat(properties.getOrder()).isEqualTo(Integer.MAX_VALUE - 1);
		});
	}

	@Test
	void propertiesAreBound() {
		LockedApplication.local()
			.withPropertyValues("holdfast.key-prefix=shop:", "holdfast.wait-time=300ms", "holdfast.lease-time=1m",
					"holdfast.commit-guard=verify", "holdfast.on-active-transaction=release-after-completion",
					"holdfast.order=7")
			.run((context) -> {
				LockProperties properties = context.getBean(LockProperties.class);
				assertThat(properties.getBackend()).isEqualTo(LockBackendType.LOCAL);
				assertThat(properties.getKeyPrefix()).isEqualTo("shop:");
				assertThat(properties.getWaitTime()).isEqualTo(Duration.ofMillis(300));
				assertThat(properties.getLeaseTime()).isEqualTo(Duration.ofMinutes(1));
				assertThat(properties.getCommitGuard()).isEqualTo(CommitGuardLevel.VERIFY);
				assertThat(properties.getOnActiveTransaction()).isEqualTo(OnActiveTransaction.RELEASE_AFTER_COMPLETION);
				assertThat(context.getBean(DistributedLockAdvisor.class).getOrder()).isEqualTo(7);
			});
	}

	@Test
	void propertiesOfTheLockTableAreBound() {
		LockedApplication.jdbc(TestDatabase.H2.newDatabase())
			.withPropertyValues("holdfast.jdbc.initialize-schema=always", "holdfast.jdbc.platform=h2")
			.run((context) -> {
				LockProperties.Jdbc properties = context.getBean(LockProperties.Jdbc.class);
				assertThat(properties.getInitializeSchema()).isEqualTo(DatabaseInitializationMode.ALWAYS);
				assertThat(properties.getPlatform()).isEqualTo("h2");
				assertThat(properties.isContinueOnError()).isFalse();
			});
	}

	@Test
	void passwordsOfEtcdAreNotShown() {
		LockProperties.Etcd properties = new LockProperties.Etcd(List.of("http://shop:secret@etcd:2379"), "shop",
				"secret", "/holdfast/", new LockProperties.Etcd.Ssl(null));
		assertThat(properties.toString()).contains("/holdfast/").doesNotContain("secret");
	}

	@ParameterizedTest
	@CsvSource({ "holdfast.lease-time,0s", "holdfast.wait-time,-1s" })
	void propertyThatCannotWorkFailsTheStart(String property, String value) {
		LockedApplication.local()
			.withPropertyValues(property + "=" + value)
			.run((context) -> assertThat(context).getFailure().hasMessageContaining("'" + property + "'"));
	}

	@Test
	void everyPropertyHasADescriptionATypeAndADefault() throws IOException {
		Map<String, Map<String, Object>> metadata = metadata();
		assertThat(metadata).containsKeys("holdfast.enabled", "holdfast.backend", "holdfast.key-prefix",
				"holdfast.wait-time", "holdfast.lease-time", "holdfast.commit-guard",
				"holdfast.unguarded-transaction-managers", "holdfast.on-active-transaction", "holdfast.order",
				"holdfast.jpa.stale-context", "holdfast.jdbc.initialize-schema", "holdfast.jdbc.schema");
		metadata.forEach((name, property) -> {
			assertThat(property).as(name).containsKeys("description", "type");
			assertThat(String.valueOf(property.get("description"))).as(name).endsWith(".").doesNotStartWith("The ");
			if (!WITHOUT_DEFAULT.contains(name)) {
				assertThat(property).as(name).containsKey("defaultValue");
			}
		});
	}

	@Test
	void defaultsOfTheMetadataAreThoseOfTheCode() throws IOException {
		Map<String, Map<String, Object>> metadata = metadata();
		assertThat(metadata.get("holdfast.order")).containsEntry("defaultValue", DistributedLockAdvisor.DEFAULT_ORDER);
		assertThat(metadata.get("holdfast.wait-time")).containsEntry("defaultValue", "5s");
		assertThat(metadata.get("holdfast.lease-time")).containsEntry("defaultValue", "30s");
		assertThat(metadata.get("holdfast.key-prefix")).containsEntry("defaultValue", "lock:");
		assertThat(metadata.get("holdfast.on-active-transaction")).containsEntry("defaultValue", "reject");
		assertThat(metadata.get("holdfast.jpa.stale-context")).containsEntry("defaultValue", "isolate");
		assertThat(metadata.get("holdfast.jdbc.initialize-schema")).containsEntry("defaultValue", "embedded");
		assertThat(metadata.get("holdfast.jdbc.schema")).containsEntry("defaultValue",
				new LockProperties.Jdbc().getDefaultSchemaLocation());
	}

	@SuppressWarnings("unchecked")
	static Map<String, Map<String, Object>> metadata() throws IOException {
		try (InputStream in = LockProperties.class
			.getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
			String json = new String(in.readAllBytes(), StandardCharsets.UTF_8);
			List<Map<String, Object>> properties = (List<Map<String, Object>>) JsonParserFactory.getJsonParser()
				.parseMap(json)
				.get("properties");
			Map<String, Map<String, Object>> metadata = new TreeMap<>();
			// Those of the endpoint are as Boot has them for each one
			properties.stream()
				.filter((property) -> ((String) property.get("name")).startsWith("holdfast."))
				.forEach((property) -> metadata.put((String) property.get("name"), property));
			return metadata;
		}
	}

}
