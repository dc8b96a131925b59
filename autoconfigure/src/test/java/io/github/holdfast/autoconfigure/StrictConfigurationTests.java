package io.github.holdfast.autoconfigure;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.boot.test.context.ConfigDataApplicationContextInitializer;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.io.ByteArrayResource;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.core.LockConfigurationException;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is written for Holdfast has an effect, or the application does not start.
 */
@ExtendWith(OutputCaptureExtension.class)
class StrictConfigurationTests {

	// Names

	@ParameterizedTest
	@ValueSource(strings = { "holdfast.lease-tim=30s", "holdfast.leasetme=30s", "holdfast.lease.time=30s",
			"holdfast.wait=1s", "holdfast.max-turns=3", "holdfast.stale-context=clear",
			"holdfast.lock.report.wait-time=1s", "holdfast.locksmith=1", "holdfast.redis.quorum.node[0]=a",
			"holdfast.backend.eu.type=redis", "holdfast.jdbc.initialise-schema=always", "holdfast.fence.sorce=a",
			"holdfast.commit_gard=fence", "holdfast.etcd.ssl.bundel=a", "holdfast.locks.report.wait=1s" })
	void unknownNameFailsTheStart(String property) {
		String name = property.substring(0, property.indexOf('=')).replace("_", "");
		assertRefused(LockedApplication.local().withPropertyValues(property),
				"The property '" + name + "' is unknown (\"");
	}

	@ParameterizedTest
	@ValueSource(strings = { "session", "table" })
	void modeThatIsGoneFailsTheStart(String mode) {
		LockedApplication.jdbc(TestDatabase.H2.newDatabase())
			.withPropertyValues("holdfast.jdbc.mode=" + mode)
			.run((context) -> assertThat(context.getStartupFailure()).hasStackTraceContaining("'holdfast.jdbc.mode'")
				.hasStackTraceContaining("JdbcLockMode." + mode));
	}

	@Test
	void propertyOfAModeThatIsGoneFailsTheStart() {
		assertRefused(LockedApplication.jdbc(TestDatabase.H2.newDatabase())
			.withPropertyValues("holdfast.jdbc.max-sessions=3"), "'holdfast.jdbc.max-sessions' is unknown");
	}

	@Test
	void allUnknownNamesAreTold() {
		assertRefused(LockedApplication.local().withPropertyValues("holdfast.wait=1s", "holdfast.handover.turns=3"),
				"The property 'holdfast.wait' is unknown", "The property 'holdfast.handover.turns' is unknown");
	}

	@Test
	void unknownNameAmongTheSystemPropertiesFailsTheStart() {
		assertRefused(LockedApplication.local().withSystemProperties("holdfast.lease-tim=30s"),
				"The property 'holdfast.lease-tim' is unknown", "systemProperties");
	}

	@Test
	void unknownNameFailsTheStartWithLocksSwitchedOff() {
		assertRefused(LockedApplication.local().withPropertyValues("holdfast.enabled=false", "holdfast.enable=true"),
				"'holdfast.enable' is unknown");
	}

	@Test
	void unknownNameFailsTheStartWithoutADatabase() {
		ApplicationContextRunner application = LockedApplication.local()
			.withClassLoader(new FilteredClassLoader("org.springframework.boot.jdbc"));
		assertRefused(application.withPropertyValues("holdfast.wait=1s"), "'holdfast.wait' is unknown");
		application.withPropertyValues("holdfast.jdbc.purge-after=1d", "holdfast.fence.source=shop")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void unknownNameInYamlIsToldWithItsLine() throws IOException {
		assertRefused(withYaml("holdfast:\n  lease-tim: 30s\n"), "The property 'holdfast.lease-tim' is unknown (",
				"2:14)");
	}

	@Test
	void unknownNameInAnImportedFileOfAProfileFailsTheStart(@TempDir Path directory) throws IOException {
		Files.writeString(directory.resolve("application-eu.properties"),
				"spring.config.import=configtree:" + directory + "/tree/\n");
		Path tree = Files.createDirectories(directory.resolve("tree/holdfast"));
		Files.writeString(tree.resolve("wait-time"), "2s");
		ApplicationContextRunner application = LockedApplication.local()
			.withInitializer(new ConfigDataApplicationContextInitializer())
			.withPropertyValues("spring.config.additional-location=" + directory + "/", "spring.profiles.active=eu");
		application.run((context) -> assertThat(context.getBean(LockProperties.class).getWaitTime()).hasSeconds(2));
		Files.writeString(tree.resolve("lease-tim"), "30s");
		assertRefused(application, "The property 'holdfast.lease-tim' is unknown (", "lease-tim");
	}

	@ParameterizedTest
	@ValueSource(strings = { "holdfast:\n", "holdfast:\n  redis:\n", "holdfast:\n  locks: {}\n",
			"holdfast:\n  leaseTime: 20s\n", "holdfast:\n  lease_time: 20s\n",
			"holdfast:\n  redis:\n    quorum:\n      nodes: []\n",
			"holdfast:\n  unguarded-transaction-managers:\n  - a\n  - b\n" })
	void otherFormsOfAFileAreAccepted(String yaml) throws IOException {
		withYaml(yaml).withPropertyValues("holdfast.enabled=false")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void environmentVariableOfSomebodyElseIsOnlyTold(CapturedOutput output) {
		withVariables(Map.of("HOLDFAST_VERSION", "1", "HOLDFAST_IMAGE_TAG", "2", "HOLDFAST_LEASE_TIM", "30s",
				"HOLDFAST_LEASETIME", "20s", "HOLDFAST_SERVICE_HOST", "10.0.0.1"))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(context.getBean(LockProperties.class).getLeaseTime()).hasSeconds(20);
			});
		assertThat(output).containsOnlyOnce("Environment variables that set no property of Holdfast: "
				+ "[HOLDFAST_IMAGE_TAG, HOLDFAST_LEASE_TIM, HOLDFAST_SERVICE_HOST, HOLDFAST_VERSION]");
	}

	@ParameterizedTest
	@ValueSource(strings = { "HOLDFAST_LOCKS", "HOLDFAST_LOCKS_PORT", "HOLDFAST_LOCKS_PORT_80_TCP", "HOLDFAST_JDBC",
			"HOLDFAST_REDIS", "HOLDFAST_REDIS_PORT", "HOLDFAST_REDIS_QUORUM", "HOLDFAST_REDIS_QUORUM_PORT",
			"HOLDFAST_ETCD", "HOLDFAST_ETCD_PORT_2379_TCP", "HOLDFAST_ZOOKEEPER", "HOLDFAST_FENCE", "HOLDFAST_HANDOVER",
			"HOLDFAST_JPA", "HOLDFAST_BACKEND_PORT", "HOLDFAST_BACKEND_SERVICE_HOST" })
	void environmentVariableWithTheNameOfAGroupIsOnlyTold(String variable, CapturedOutput output) {
		LockedApplication.jdbc(TestDatabase.H2.newDatabase())
			.withInitializer(variables(Map.of(variable, "tcp://10.0.0.1:80")))
			.withPropertyValues("holdfast.backend=jdbc")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).contains("Environment variables that set no property of Holdfast: [" + variable + "]");
	}

	@ParameterizedTest
	@ValueSource(strings = { "HOLDFAST_BACKEND", "HOLDFAST_LEASETIME", "HOLDFAST_HANDOVER_MAX_TURNS",
			"HOLDFAST_LOCKS_REPORT_WAITTIME" })
	void environmentVariableWithAValueThatCannotWorkFailsTheStart(String variable) {
		LockedApplication.local()
			.withInitializer(variables(Map.of(variable, "soon")))
			.run((context) -> assertThat(context).getFailure().hasStackTraceContaining("soon"));
	}

	@Test
	void environmentVariablesInAllTheirFormsAreAccepted(CapturedOutput output) {
		withVariables(Map.of("HOLDFAST_LEASETIME", "20s", "HOLDFAST_WAIT_TIME", "2s",
				"HOLDFAST_UNGUARDEDTRANSACTIONMANAGERS_0", "a", "HOLDFAST_UNGUARDED_TRANSACTION_MANAGERS_1_", "b",
				"HOLDFAST_LOCKS_REPORT_WAITTIME", "1s", "HOLDFAST_LOCKS_REPORT_LEASE_TIME", "9s"))
			.withPropertyValues("holdfast.enabled=false")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(context.getBean(LockProperties.class).getLeaseTime()).hasSeconds(20);
				assertThat(context.getBean(LockProperties.class).getWaitTime()).hasSeconds(2);
				assertThat(context.getBean(LockProperties.class).getLocks().get("report").getLeaseTime()).hasSeconds(9);
			});
		assertThat(output).doesNotContain("Environment variables");
	}

	@ParameterizedTest
	@CsvSource({ "holdfast.redis.host, spring.data.redis.host",
			"holdfast.redis.ssl.enabled, spring.data.redis.ssl.enabled",
			"holdfast.redisson.file, spring.redis.redisson.file", "holdfast.jdbc.url, spring.datasource.url",
			"holdfast.datasource.url, spring.datasource.url" })
	void propertyOfAConnectionIsToldByItsName(String name, String right) {
		assertRefused(LockedApplication.local().withPropertyValues(name + "=x"), "'" + name + "' is unknown",
				"the connection is '" + right + "'");
	}

	// Times

	@ParameterizedTest
	@ValueSource(strings = { "holdfast.wait-time", "holdfast.lease-time", "holdfast.handover.max-time",
			"holdfast.jdbc.purge-after", "holdfast.zookeeper.session-timeout", "holdfast.zookeeper.connection-timeout",
			"holdfast.warn-after.waited", "holdfast.warn-after.held", "holdfast.locks.report.wait-time",
			"holdfast.locks.report.lease-time", "holdfast.locks.report.max-hold-time",
			"holdfast.locks.report.min-hold-time" })
	void timeThatNobodyMeansFailsTheStartWithItsName(String name) {
		assertRefused(LockedApplication.local().withPropertyValues(name + "=-5s"), "'" + name + "' is '-5s'",
				"cannot be negative");
		assertRefused(LockedApplication.local().withPropertyValues(name + "=30"), "'" + name + "' is '30'",
				"a number without a unit counts milliseconds");
		LockedApplication.local()
			.withPropertyValues(name + "=soon")
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining("'soon' is not a valid duration")
				.hasStackTraceContaining("'" + name + "'"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "holdfast.lease-time", "holdfast.zookeeper.session-timeout",
			"holdfast.zookeeper.connection-timeout", "holdfast.warn-after.waited", "holdfast.warn-after.held",
			"holdfast.locks.report.lease-time", "holdfast.locks.report.max-hold-time" })
	void zeroWithoutSenseFailsTheStart(String name) {
		assertRefused(LockedApplication.local().withPropertyValues(name + "=0s"), "'" + name + "' is '0s'",
				"more than zero");
	}

	@Test
	void timesWithSenseAreAccepted() {
		LockedApplication.local()
			.withBean(Report.class)
			.withPropertyValues("holdfast.wait-time=0", "holdfast.lease-time=5000", "holdfast.handover.max-time=0s",
					"holdfast.jdbc.purge-after=0", "holdfast.locks.report.min-hold-time=0s",
					"holdfast.locks.report.wait-time=PT2S", "holdfast.locks.report.max-hold-time=50ms")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	static class Report {

		@DistributedLock(key = "'report'", name = "report")
		public void report() {
		}

	}

	static class ShortLease {

		@DistributedLock(key = "'report'", leaseTime = "30")
		public void report() {
		}

	}

	@Test
	void smallNumberInAnAnnotationFailsTheStart() {
		assertRefused(LockedApplication.local().withBean(ShortLease.class), "leaseTime \"30\"", "ShortLease.report()",
				"30 milliseconds", "Write \"30s\"");
	}

	@Test
	void poolThatMayKeepARenewalWaitingForTheWholeLeaseIsTold(CapturedOutput output) {
		LockedApplication.jdbc(TestDatabase.H2.newDatabase())
			.withPropertyValues("holdfast.jdbc.mode=lease", "holdfast.lease-time=20s")
			.run((context) -> assertThat(output).contains("WARN", "'holdfast.lease-time' (20s) is less than the",
					"(30000 ms)", "'spring.datasource.hikari.connection-timeout' to 6666 or less"));
	}

	@Test
	void poolOfOneConnectionIsTold(CapturedOutput output) {
		LockedApplication.jdbc(TestDatabase.H2.newDatabase())
			.withPropertyValues("holdfast.jdbc.mode=lease", "spring.datasource.hikari.maximum-pool-size=1")
			.run((context) -> assertThat(output).contains("WARN", "has one connection",
					"'spring.datasource.hikari.maximum-pool-size' to 2 or more"));
	}

	@Test
	void startWithAllDefaultsWarnsOfNothing(CapturedOutput output) {
		ApplicationContextRunner application = LockedApplication.jdbc(TestDatabase.H2.newDatabase())
			.withBean(Report.class);
		application.run((context) -> assertThat(context).hasNotFailed());
		application.withPropertyValues("holdfast.jdbc.mode=lease").run((context) -> assertThat(context).hasNotFailed());
		assertThat(output.getAll().lines()).noneMatch((line) -> line.contains("WARN") && line.contains("holdfast"));
	}

	@Test
	void applicationWithAnotherPoolStarts() {
		LockedApplication.jdbc(TestDatabase.H2.newDatabase())
			.withClassLoader(new FilteredClassLoader("com.zaxxer.hikari"))
			.withPropertyValues("spring.datasource.type=org.springframework.jdbc.datasource.SimpleDriverDataSource",
					"spring.datasource.driver-class-name=org.h2.Driver")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	// Metadata

	@Test
	void metadataHasExactlyThePropertiesOfTheClasses() throws IOException {
		Set<String> names = new TreeSet<>(names(LockProperties.class));
		for (Class<?> nested : LockProperties.class.getDeclaredClasses()) {
			if (nested.isAnnotationPresent(ConfigurationProperties.class)) {
				names.addAll(names(nested));
			}
		}
		assertThat(LockPropertiesTests.metadata().keySet()).containsExactlyInAnyOrderElementsOf(names);
	}

	private static Set<String> names(Class<?> type) {
		return names(type.getAnnotation(ConfigurationProperties.class).value(), type);
	}

	private static Set<String> names(String prefix, Class<?> type) {
		if (!type.isRecord()) {
			return Arrays.stream(type.getMethods())
				.map(Method::getName)
				.filter((name) -> name.matches("set[A-Z].*")
						|| (type == LockProperties.class && name.matches("getLocks|getBackends")))
				.map((name) -> prefix + "." + dashed(name.substring(3)))
				.collect(Collectors.toSet());
		}
		return Arrays.stream(type.getRecordComponents())
			.flatMap((part) -> names(prefix, part))
			.collect(Collectors.toSet());
	}

	private static Stream<String> names(String prefix, RecordComponent part) {
		String name = prefix + "." + dashed(part.getName());
		return part.getType().isRecord() ? names(name, part.getType()).stream() : Stream.of(name);
	}

	private static String dashed(String name) {
		return name.replaceAll("(?<=.)([A-Z])", "-$1").toLowerCase();
	}

	@Test
	void descriptionsAreNotThoseOfANeighbour() throws IOException {
		Map<String, Map<String, Object>> metadata = LockPropertiesTests.metadata();
		assertThat(metadata.get("holdfast.handover.max-waiters")).containsEntry("description",
				"Threads that may wait for locks in total.");
		assertThat(metadata.get("holdfast.handover.max-waiters-per-key")).containsEntry("description",
				"Threads that may wait for one lock.");
		List<String> repeated = metadata.values()
			.stream()
			.map((property) -> property.get("description"))
			.map(String::valueOf)
			.collect(Collectors.groupingBy((text) -> text, Collectors.counting()))
			.entrySet()
			.stream()
			.filter((text) -> text.getValue() > 1)
			.map(Map.Entry::getKey)
			.toList();
		assertThat(repeated).isSubsetOf("Password of the user.",
				"Platform for the '@@platform@@' placeholder in the script's "
						+ "location. By default, detected from the database.");
	}

	@Test
	@SuppressWarnings("unchecked")
	void everyEnumHasHintsForAllOfItsValues() throws Exception {
		String json = new String(
				LockProperties.class.getResourceAsStream("/META-INF/spring-configuration-metadata.json").readAllBytes(),
				StandardCharsets.UTF_8);
		List<Map<String, Object>> hints = (List<Map<String, Object>>) JsonParserFactory.getJsonParser()
			.parseMap(json)
			.get("hints");
		Map<String, Set<String>> values = hints.stream()
			.collect(Collectors.toMap((hint) -> (String) hint.get("name"),
					(hint) -> ((List<Map<String, Object>>) hint.get("values")).stream()
						.peek((value) -> assertThat((String) value.get("description")).endsWith("."))
						.map((value) -> (String) value.get("value"))
						.collect(Collectors.toSet())));
		for (Map<String, Object> property : LockPropertiesTests.metadata().values()) {
			Class<?> type = type((String) property.get("type"));
			if (type != null && type.isEnum()) {
				assertThat(values).as((String) property.get("name")).containsKey((String) property.get("name"));
				assertThat(values.remove(property.get("name"))).isEqualTo(Arrays.stream(type.getEnumConstants())
					.map((constant) -> ConfigurationPropertyName.of("a." + dashedConstant(constant))
						.toString()
						.substring(2))
					.collect(Collectors.toSet()));
			}
		}
		assertThat(values).isEmpty();
	}

	private static String dashedConstant(Object constant) {
		return ((Enum<?>) constant).name().toLowerCase().replace('_', '-');
	}

	private static Class<?> type(String name) {
		try {
			return Class.forName(name);
		}
		catch (ClassNotFoundException ex) {
			return null;
		}
	}

	private static ApplicationContextRunner withYaml(String yaml) throws IOException {
		List<PropertySource<?>> sources = new YamlPropertySourceLoader().load("shop.yml",
				new ByteArrayResource(yaml.getBytes(StandardCharsets.UTF_8)));
		return LockedApplication.local()
			.withInitializer((context) -> sources.forEach(context.getEnvironment().getPropertySources()::addLast));
	}

	private static ApplicationContextRunner withVariables(Map<String, Object> variables) {
		return LockedApplication.local().withInitializer(variables(variables));
	}

	private static ApplicationContextInitializer<ConfigurableApplicationContext> variables(
			Map<String, Object> variables) {
		return (context) -> context.getEnvironment()
			.getPropertySources()
			.addFirst(new SystemEnvironmentPropertySource("test-systemEnvironment", variables));
	}

	private static void assertRefused(ApplicationContextRunner application, String... text) {
		application.run((context) -> {
			assertThat(context).hasFailed();
			Throwable cause = context.getStartupFailure();
			while (!(cause instanceof LockConfigurationException) && cause.getCause() != null) {
				cause = cause.getCause();
			}
			assertThat(cause).isInstanceOf(LockConfigurationException.class);
			assertThat(cause.getMessage()).contains(text);
		});
	}

}
