package io.github.holdfast.autoconfigure;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionManagerCustomizationAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.support.JdbcTransactionManager;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockBackend;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.documentation.Documentation;
import io.github.holdfast.store.redis.RedisLockBackend;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.EtcdServer;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.RedisQuorum;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.testsupport.ZooKeeperServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Each configuration that the documentation shows is one with which an application
 * starts. Only the addresses of the stores are replaced.
 */
@Timeout(120)
class DocumentedConfigurationTests {

	private static final Pattern MANAGER = Pattern.compile("\\w+TransactionManager\\b");

	static List<Block> blocks() throws IOException {
		return Documentation.blocks("yaml").stream().map(Block::new).toList();
	}

	@Test
	void blocksAreFound() throws IOException {
		assertThat(blocks()).hasSizeGreaterThan(8)
			.extracting((block) -> block.code().page())
			.contains("README.md", "docs/redis.md", "docs/kubernetes.md");
	}

	@Test
	void allPropertiesAreListed() throws IOException {
		assertThat(Documentation.pages()).filteredOn((page) -> page.toString().equals("docs/configuration.md"))
			.singleElement()
			.satisfies((page) -> assertThat(LockPropertiesTests.metadata().keySet())
				.allSatisfy((name) -> assertThat(page.text()).containsPattern('`' + Pattern.quote(name) + "[`.]")));
	}

	@ParameterizedTest
	@MethodSource("blocks")
	void propertiesAreKnown(Block block) throws IOException {
		Set<String> known = LockPropertiesTests.metadata().keySet();
		assertThat(block.properties()).filteredOn((name) -> name.startsWith("holdfast."))
			.filteredOn((name) -> !name.startsWith("holdfast.locks"))
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

	/**
	 * How a property is called in the environment.
	 */
	private static String variable(String property) {
		return property.replace("-", "").replace('.', '_').toUpperCase(Locale.ROOT);
	}

	@ParameterizedTest
	@MethodSource("blocks")
	void applicationStartsAndLocks(Block block) throws Exception {
		if (block.text().contains("reportLocks")) {
			start(block, withDatabase(TestDatabase.H2).withUserConfiguration(SeveralBackends.class));
		}
		else if (block.has("holdfast.redis.quorum")) {
			try (RedisQuorum quorum = new RedisQuorum()) {
				start(block, LockedApplication.redis(quorum.servers().get(0).port())
					.withPropertyValues("holdfast.redis.quorum.nodes=" + String.join(",", quorum.nodes())));
			}
		}
		else if (block.says("backend: redisson")) {
			start(block, LockedApplication.redisson(RedisServer.shared().port()));
		}
		else if (block.says("backend: redis")) {
			start(block, withRedis(block.says("commit-guard: fence") ? withDatabase(TestDatabase.H2) : withoutStore()));
		}
		else if (block.has("holdfast.etcd")) {
			Assumptions.assumeTrue(EtcdServer.isInstalled(), "etcd is not installed");
			start(block,
					withoutStore().withPropertyValues("holdfast.etcd.endpoints=" + EtcdServer.shared().endpoint()));
		}
		else if (block.has("holdfast.zookeeper") || block.says("backend: zookeeper")) {
			ApplicationContextRunner application = block.has("holdfast.fence") ? withDatabase(TestDatabase.H2)
					: withoutStore();
			try (ZooKeeperServer server = ZooKeeperServer.start()) {
				start(block,
						application.withPropertyValues("holdfast.zookeeper.connect-string=127.0.0.1:" + server.port()));
			}
		}
		else {
			start(block, withDatabase(TestDatabase.H2));
		}
	}

	private static void start(Block block, ApplicationContextRunner application) throws IOException {
		ApplicationContextRunner documented = application.withBean(Shop.class);
		Matcher manager = MANAGER.matcher(block.text());
		if (manager.find()) {
			DatabaseAccess other = TestDatabase.H2.newDatabase();
			documented = documented.withBean(manager.group(), JdbcTransactionManager.class,
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

	private static ApplicationContextRunner withoutStore() {
		return new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class,
				LockBackendAutoConfiguration.class, DistributedLockAutoConfiguration.class));
	}

	private static ApplicationContextRunner withRedis(ApplicationContextRunner application) {
		return application.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
			.withPropertyValues("spring.data.redis.host=127.0.0.1",
					"spring.data.redis.port=" + RedisServer.shared().port());
	}

	private static ApplicationContextRunner withDatabase(TestDatabase database) {
		DatabaseAccess access = database.newDatabase();
		return withoutStore()
			.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class,
					JdbcTemplateAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
					TransactionManagerCustomizationAutoConfiguration.class, TransactionAutoConfiguration.class))
			.withPropertyValues("spring.datasource.url=" + access.url(), "spring.datasource.username=" + access.user(),
					"spring.datasource.password=" + access.password());
	}

	/**
	 * One configuration.
	 *
	 * @param code what a page shows
	 */
	record Block(Documentation.Block code) {

		String text() {
			return this.code.text();
		}

		/**
		 * The properties of an application, or the variables of its Deployment.
		 */
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

	@Configuration(proxyBeanMethods = false)
	static class SeveralBackends {

		@Bean(defaultCandidate = false)
		LettuceConnectionFactory reportRedis() {
			return new LettuceConnectionFactory("127.0.0.1", RedisServer.shared().port());
		}

		@Bean(defaultCandidate = false)
		LockBackend reportLocks(@Qualifier("reportRedis") RedisConnectionFactory redis) {
			return new RedisLockBackend(() -> redis);
		}

	}

	/**
	 * The locks that the pages name.
	 */
	static class Shop {

		@DistributedLock(key = "'report'", name = "nightly-report")
		public void report() {
		}

		@DistributedLock(key = "'stock'", name = "StockService.deduct")
		public void deduct() {
		}

	}

}
