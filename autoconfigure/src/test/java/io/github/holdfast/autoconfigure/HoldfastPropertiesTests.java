package io.github.holdfast.autoconfigure;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import io.github.holdfast.LockContext;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.interceptor.DistributedLockAdvisor;
import io.github.holdfast.transaction.CommitGuardLevel;
import io.github.holdfast.transaction.OnActiveTransaction;
import io.github.holdfast.transaction.StaleContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/** The properties, and what an IDE shows of them. */
@ExtendWith(OutputCaptureExtension.class)
class HoldfastPropertiesTests {

	/** Their defaults depend on the application, or there is none. */
	private static final Set<String> WITHOUT_DEFAULT = Set.of("holdfast.backend", "holdfast.commit-guard",
			"holdfast.leak-detection-threshold", "holdfast.locks", "holdfast.transaction-managers",
			"holdfast.redis.quorum.nodes");

	@Test
	void propertiesHaveTheirDefaults() {
		LockedApplication.local().run((context) -> {
			HoldfastProperties properties = context.getBean(HoldfastProperties.class);
			assertThat(properties.enabled()).isTrue();
			assertThat(properties.keyPrefix()).isEqualTo("holdfast:");
			assertThat(properties.waitTime()).isEqualTo(Duration.ofSeconds(5));
			assertThat(properties.leaseTime()).isEqualTo(Duration.ofSeconds(60));
			assertThat(properties.commitGuard()).isNull();
			assertThat(properties.onActiveTransaction()).isEqualTo(OnActiveTransaction.REJECT);
			assertThat(properties.order()).isEqualTo(DistributedLockAdvisor.DEFAULT_ORDER);
			assertThat(properties.locks()).isEmpty();
			assertThat(properties.startupChecks()).isEqualTo(StartupChecks.FAIL);
			assertThat(properties.transactionManagers()).isEmpty();
			assertThat(properties.jdbc().mode()).isEqualTo(HoldfastProperties.Jdbc.Mode.TRANSACTION);
			assertThat(properties.jdbc().retention()).isEqualTo(Duration.ofDays(7));
			assertThat(properties.jpa().staleContext()).isEqualTo(StaleContext.ISOLATE);
			assertThat(properties.handoverLimit()).isEqualTo(Duration.ofMillis(25));
			assertThat(properties.leakDetectionThreshold()).isNull();
			assertThat(properties.problemdetails().enabled()).isFalse();
			assertThat(properties.redis().quorum().nodes()).isNull();
		});
	}

	@Test
	void propertiesAreBound() {
		LockedApplication.h2()
			.withPropertyValues("holdfast.backend=local", "holdfast.key-prefix=shop:", "holdfast.wait-time=300ms",
					"holdfast.lease-time=2m", "holdfast.commit-guard=lease", "holdfast.on-active-transaction=warn",
					"holdfast.order=7", "holdfast.locks[StockService.deduct].max-hold-time=1h",
					"holdfast.transaction-managers.transactionManager=lease", "holdfast.redis.quorum.nodes=a:1,b:2,c:3",
					"holdfast.jdbc.initialize-schema=never")
			.run((context) -> {
				HoldfastProperties properties = context.getBean(HoldfastProperties.class);
				assertThat(properties.backend()).isEqualTo(LockBackendType.LOCAL);
				assertThat(properties.commitGuard()).isEqualTo(CommitGuardLevel.LEASE);
				assertThat(properties.onActiveTransaction()).isEqualTo(OnActiveTransaction.WARN);
				assertThat(properties.locks().get("StockService.deduct").maxHoldTime()).isEqualTo(Duration.ofHours(1));
				assertThat(properties.transactionManagers()).containsEntry("transactionManager",
						CommitGuardLevel.LEASE);
				assertThat(properties.redis().quorum().nodes()).containsExactly("a:1", "b:2", "c:3");
				assertThat(context.getBean(DistributedLockAdvisor.class).getOrder()).isEqualTo(7);
				context.getBean(LockTemplate.class)
					.run("A", () -> assertThat(LockContext.current().orElseThrow().keys()).containsExactly("A"));
			});
	}

	@ParameterizedTest
	@ValueSource(strings = { "holdfast.waittimes", "holdfast.on-self-call", "holdfast.jdbc.purge-after",
			"holdfast.fence.source", "holdfast.locks.stock.backend", "holdfast.handover.max-turns",
			"holdfast.warn-after.held" })
	void propertyThatDoesNotExistFailsTheStart(String property) {
		LockedApplication.local()
			.withPropertyValues(property + "=1s")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(UnboundConfigurationPropertiesException.class)
				.hasMessageContaining(property));
	}

	@ParameterizedTest
	@CsvSource({ "holdfast.lease-time,0s", "holdfast.lease-time,30", "holdfast.wait-time,-1s",
			"holdfast.handover-limit,-1ms", "holdfast.jdbc.retention,59s", "holdfast.jdbc.retention,-1s" })
	void propertyThatCannotWorkFailsTheStart(String property, String value) {
		HoldfastAutoConfigurationTests.assertFailure(
				LockedApplication.local().withPropertyValues(property + "=" + value), "'" + property + "' is ",
				"must be at least", "A number without a unit counts milliseconds.");
	}

	@Test
	void rowsAreKeptForAsLongAsALease() {
		HoldfastAutoConfigurationTests.assertFailure(
				LockedApplication.local().withPropertyValues("holdfast.jdbc.retention=1h", "holdfast.lease-time=2h"),
				"'holdfast.jdbc.retention'");
		LockedApplication.local()
			.withPropertyValues("holdfast.jdbc.retention=0")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void overridesWinOverTheCode() {
		LockedApplication.local().withPropertyValues("holdfast.locks.report.enabled=false").run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			locks.withName("report").run("A", () -> assertThat(LockContext.current()).isEmpty());
			locks.withName("other").run("A", () -> assertThat(LockContext.current()).isPresent());
		});
	}

	@Test
	void overridesWithoutEffectAndDisabledLocksAreLogged(CapturedOutput output) {
		LockedApplication.local()
			.withPropertyValues("holdfast.locks.report.enabled=false", "holdfast.locks.typo.wait-time=1s",
					"holdfast.locks.report.wait-time=1s")
			.withBean(Report.class)
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).contains("Lock 'report' is disabled by 'holdfast.locks'",
				"names that match no lock at startup: [typo]", "'holdfast.locks[StockService.deduct].wait-time'");
	}

	static class Report {

		Report(LockTemplate locks) {
			locks.withName("report");
		}

	}

	@Test
	void overridesThatContradictEachOtherFailTheStart() {
		HoldfastAutoConfigurationTests.assertFailure(LockedApplication.local()
			.withPropertyValues("holdfast.locks.report.max-hold-time=1s", "holdfast.locks.report.min-hold-time=2s"),
				"'holdfast.locks[report]' is invalid", "Correct the times.");
	}

	@Test
	void everyPropertyHasADescriptionATypeAndADefault() throws IOException {
		Map<String, Map<String, Object>> metadata = metadata();
		assumeThat(metadata).as("metadata, which the annotation processor makes").isNotEmpty();
		assertThat(metadata).containsOnlyKeys("holdfast.enabled", "holdfast.backend", "holdfast.key-prefix",
				"holdfast.wait-time", "holdfast.lease-time", "holdfast.commit-guard", "holdfast.on-active-transaction",
				"holdfast.order", "holdfast.locks", "holdfast.startup-checks", "holdfast.transaction-managers",
				"holdfast.jdbc.initialize-schema", "holdfast.jdbc.mode", "holdfast.jdbc.retention",
				"holdfast.jpa.stale-context", "holdfast.handover-limit", "holdfast.leak-detection-threshold",
				"holdfast.problemdetails.enabled", "holdfast.redis.quorum.nodes");
		metadata.forEach((name, property) -> {
			assertThat(property).as(name).containsKeys("description", "type");
			assertThat(String.valueOf(property.get("description"))).as(name).endsWith(".").doesNotStartWith("The ");
			if (!WITHOUT_DEFAULT.contains(name)) {
				assertThat(property).as(name).containsKey("defaultValue");
			}
		});
		assertThat(metadata.get("holdfast.order").get("defaultValue").toString())
			.isEqualTo(String.valueOf(DistributedLockAdvisor.DEFAULT_ORDER));
	}

	@SuppressWarnings("unchecked")
	private static Map<String, Map<String, Object>> metadata() throws IOException {
		try (InputStream in = HoldfastProperties.class
			.getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
			if (in == null) {
				return Map.of();
			}
			String json = new String(in.readAllBytes(), StandardCharsets.UTF_8);
			Map<String, Map<String, Object>> metadata = new TreeMap<>();
			((List<Map<String, Object>>) JsonParserFactory.getJsonParser().parseMap(json).get("properties")).stream()
				.filter((property) -> ((String) property.get("name")).startsWith("holdfast."))
				.forEach((property) -> metadata.put((String) property.get("name"), property));
			return metadata;
		}
	}

}
