package io.github.holdfast.documentation;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.jdbc.support.JdbcTransactionManager;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.autoconfigure.HoldfastProperties;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.EtcdServer;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.RedisQuorum;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.testsupport.ZooKeeperServer;

import static org.assertj.core.api.Assertions.assertThat;

/** An application starts with each configuration in the pages, on other addresses. */
@Timeout(120)
class DocumentedConfigurationTests {

	private static final Pattern MANAGER = Pattern.compile("(\\w+TransactionManager): (\\w+)");

	static List<Block> blocks() throws IOException {
		return Documentation.blocks("yaml").stream().map(Block::new).toList();
	}

	/** The names of all properties. */
	private static Set<String> metadata() throws IOException {
		try (InputStream json = HoldfastProperties.class
			.getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
			JsonNode properties = new JsonMapper().readTree(json).get("properties");
			return properties.valueStream()
				.map((property) -> property.get("name").stringValue())
				.filter((name) -> name.startsWith("holdfast."))
				.collect(Collectors.toCollection(TreeSet::new));
		}
	}

	@Test
	void allPropertiesAreListed() throws IOException {
		Set<String> names = metadata();
		assertThat(names).hasSizeGreaterThan(15);
		assertThat(Documentation.pages()).filteredOn((page) -> page.toString().equals("docs/configuration.md"))
			.singleElement()
			.satisfies((page) -> assertThat(names)
				.allSatisfy((name) -> assertThat(page.text()).containsPattern('`' + Pattern.quote(name) + "[`.]")));
	}

	@ParameterizedTest
	@MethodSource("blocks")
	void propertiesAreKnown(Block block) throws IOException {
		Set<String> known = metadata();
		assertThat(block.properties()).filteredOn((name) -> name.startsWith("holdfast."))
			.filteredOn((name) -> !name.matches("holdfast\\.(locks|transaction-managers)\\b.*"))
			.isSubsetOf(known);
		assertThat(block.properties()).filteredOn((name) -> name.startsWith("HOLDFAST_"))
			.isSubsetOf(known.stream().map(DocumentedConfigurationTests::variable).toList());
	}

	@Test
	void variablesOfADeploymentAreRead() throws IOException {
		assertThat(blocks()).filteredOn(Block::isDeployment)
			.isNotEmpty()
			.allSatisfy((block) -> assertThat(block.properties()).contains("HOLDFAST_BACKEND")
				.allSatisfy((name) -> assertThat(name).matches("[A-Z0-9_]+")));
	}

	/** The name of a property in the environment. */
	private static String variable(String property) {
		return property.replace("-", "").replace('.', '_').toUpperCase(Locale.ROOT);
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void lineOfTheStartupIsLogged(CapturedOutput output) throws IOException {
		LockedApplication.jdbc(TestDatabase.H2.newDatabase())
			.withBean(Shop.class)
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(Documentation.blocks("text")).filteredOn((block) -> block.page().equals("docs/getting-started.md"))
			.singleElement()
			.satisfies((block) -> assertThat(output).contains(block.text().strip()));
	}

	@ParameterizedTest
	@MethodSource("blocks")
	void applicationStartsAndLocks(Block block) throws Exception {
		DatabaseAccess database = TestDatabase.H2.newDatabase();
		if (block.has("holdfast.redis.quorum")) {
			try (RedisQuorum quorum = new RedisQuorum()) {
				start(block, LockedApplication.redis(quorum.servers().get(0).port())
					.withPropertyValues("holdfast.redis.quorum.nodes=" + String.join(",", quorum.nodes())));
			}
		}
		else if (block.says("backend: redisson")) {
			start(block, LockedApplication.redisson(RedisServer.shared().port()));
		}
		else if (block.says("backend: redis")) {
			start(block,
					LockedApplication.jdbc(database)
						.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
						.withPropertyValues("spring.data.redis.host=127.0.0.1",
								"spring.data.redis.port=" + RedisServer.shared().port()));
		}
		else if (block.says("backend: etcd")) {
			Assumptions.assumeTrue(EtcdServer.isInstalled(), "etcd is not installed");
			start(block, LockedApplication.etcd(database, EtcdServer.shared().endpoint()));
		}
		else if (block.says("backend: zookeeper")) {
			try (ZooKeeperServer server = ZooKeeperServer.start()) {
				start(block, LockedApplication.zooKeeper(database, "127.0.0.1:" + server.port()));
			}
		}
		else {
			start(block, LockedApplication.jdbc(database));
		}
	}

	private static void start(Block block, ApplicationContextRunner application) throws IOException {
		ApplicationContextRunner documented = application.withBean(Shop.class);
		Matcher manager = MANAGER.matcher(block.text());
		while (manager.find()) {
			DatabaseAccess other = TestDatabase.H2.newDatabase();
			documented = documented.withBean(manager.group(1), JdbcTransactionManager.class,
					() -> new JdbcTransactionManager(other.dataSource(1)));
		}
		PropertySource<?> properties = block.load();
		documented.withInitializer((context) -> context.getEnvironment().getPropertySources().addLast(properties))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				LockTemplate locks = context.getBean(LockTemplate.class);
				assertThat(locks.<String, RuntimeException>execute("documented", () -> "done")).isEqualTo("done");
				context.getBean(Shop.class).report();
			});
	}

	/** One configuration. */
	record Block(Documentation.Block code) {

		String text() {
			return this.code.text();
		}

		/** The properties of an application, or the variables of its Deployment. */
		PropertySource<?> load() throws IOException {
			PropertySource<?> properties = new YamlPropertySourceLoader()
				.load(toString(), new ByteArrayResource(text().getBytes(StandardCharsets.UTF_8)))
				.get(0);
			return isDeployment()
					? new SystemEnvironmentPropertySource("documented-systemEnvironment", variables(properties))
					: properties;
		}

		boolean isDeployment() {
			return says("kind: Deployment");
		}

		private static Map<String, Object> variables(PropertySource<?> deployment) {
			Map<String, Object> variables = new HashMap<>();
			String variable = "spec.template.spec.containers[0].env[%d].%s";
			for (int i = 0; deployment.getProperty(variable.formatted(i, "name")) instanceof String name; i++) {
				variables.put(name, String.valueOf(deployment.getProperty(variable.formatted(i, "value"))));
			}
			return variables;
		}

		Set<String> properties() throws IOException {
			return new TreeSet<>(List.of(((EnumerablePropertySource<?>) load()).getPropertyNames()));
		}

		boolean has(String prefix) throws IOException {
			return properties().stream().anyMatch((name) -> name.startsWith(prefix + '.'));
		}

		boolean says(String line) {
			return text().lines().map(String::strip).anyMatch((it) -> it.matches(Pattern.quote(line) + "( +#.*)?"));
		}

		@Override
		public String toString() {
			return this.code.toString();
		}

	}

	/** The locks that the pages name. */
	static class Shop {

		@DistributedLock(key = "'report'", name = "nightly-report")
		public void report() {
		}

		@DistributedLock(key = "'stock'", name = "StockService.deduct")
		public void deduct() {
		}

	}

}
