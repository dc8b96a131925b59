package io.github.holdfast.autoconfigure;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.AotDetector;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.EnvironmentAware;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.util.StringUtils;

import io.github.holdfast.support.LockConfigurationException;

/**
 * The properties that have decided which beans there are. If an application is processed
 * ahead of time that happens when it is built, so that another value at its start would
 * have no effect: it is refused.
 */
final class BuildTimeProperties implements BeanFactoryPostProcessor, EnvironmentAware {

	/** Each value makes other beans. */
	private static final List<String> VALUES = List.of("holdfast.enabled", "holdfast.backend", "holdfast.commit-guard",
			"holdfast.jdbc.mode", "holdfast.mdc-enabled", NamedBackends.ALSO_LOCK, "holdfast.on-opposite-order");

	/** There are other beans if it is set, to whatever. */
	private static final List<String> PRESENCES = List.of("holdfast.redis.quorum.nodes", "holdfast.etcd.endpoints",
			"holdfast.zookeeper.connect-string", "holdfast.warn-after.held", "holdfast.warn-after.waited");

	/** There are other beans if it is {@code never}. */
	private static final List<String> SCHEMAS = List.of("holdfast.jdbc.initialize-schema",
			"holdfast.fence.initialize-schema");

	private static final String NEVER = "never";

	private static final String SET = "set";

	private final Map<String, String> values;

	private @Nullable Environment environment;

	/**
	 * Create the properties.
	 * @param values their values, those that are not set being empty
	 */
	BuildTimeProperties(Map<String, String> values) {
		this.values = values;
	}

	@Override
	public void setEnvironment(Environment environment) {
		this.environment = environment;
	}

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
		if (this.environment == null || !AotDetector.useGeneratedArtifacts()) {
			return;
		}
		Map<String, String> now = values(this.environment);
		this.values.forEach((name, value) -> check(name, value, now.getOrDefault(name, "")));
	}

	private static void check(String name, String built, String started) {
		boolean same = SCHEMAS.contains(name) ? built.equals(NEVER) == started.equals(NEVER) : built.equals(started);
		if (!same) {
			throw new LockConfigurationException(
					"'" + name + "' is " + described(started)
							+ ", but the application was processed ahead of time when it was " + described(built)
							+ ", which has decided what beans there are.",
					"Build the application with the value that it is started with, or start it without "
							+ "'spring.aot.enabled'.");
		}
	}

	private static String described(String value) {
		return value.isEmpty() ? "not set" : value.equals(SET) ? SET : "'" + value + "'";
	}

	private static Map<String, String> values(Environment environment) {
		Map<String, String> values = new TreeMap<>();
		Stream.concat(VALUES.stream(), SCHEMAS.stream())
			.forEach((name) -> values.put(name, environment.getProperty(name, "").strip().toLowerCase(Locale.ROOT)));
		values.put(LockPropertyNames.BACKENDS, backends(environment));
		PRESENCES.forEach((name) -> values.put(name, isSet(environment, name) ? SET : ""));
		return values;
	}

	/**
	 * Those that keep locks beside the default one, each with its store: the commits of
	 * some are checked in a table of the business database.
	 */
	private static String backends(Environment environment) {
		return NamedBackends.used(environment)
			.entrySet()
			.stream()
			.map((backend) -> described(backend.getKey(), backend.getValue()))
			.collect(Collectors.joining(", "));
	}

	private static String described(String id, Map<String, String> backend) {
		String connection = backend.get("connection");
		return id + " (" + backend.getOrDefault("type", id) + ((connection != null) ? " by " + connection : "") + ")";
	}

	private static boolean isSet(Environment environment, String name) {
		return StringUtils.hasText(environment.getProperty(name))
				|| StringUtils.hasText(environment.getProperty(name + "[0]"));
	}

	/**
	 * Writes the values into the bean definition, which is all that is left of them in
	 * code that is generated ahead of time.
	 */
	static class Registrar implements ImportBeanDefinitionRegistrar, EnvironmentAware {

		private @Nullable Environment environment;

		@Override
		public void setEnvironment(Environment environment) {
			this.environment = environment;
		}

		@Override
		public void registerBeanDefinitions(AnnotationMetadata metadata, BeanDefinitionRegistry registry) {
			if (this.environment != null) {
				RootBeanDefinition definition = new RootBeanDefinition(BuildTimeProperties.class);
				definition.setRole(BeanDefinition.ROLE_INFRASTRUCTURE);
				definition.getConstructorArgumentValues().addIndexedArgumentValue(0, values(this.environment));
				registry.registerBeanDefinition("holdfastBuildTimeProperties", definition);
			}
		}

	}

}
