package io.github.holdfast.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.AbstractBindHandler;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

import io.github.holdfast.core.LockConfigurationException;

/**
 * Refuses properties without effect and times that nobody can have meant, before any bean
 * is made: all properties are bound, also those of stores that are not used. An
 * environment variable without effect may belong to somebody else, and is only told.
 */
class LockPropertiesCheck implements BeanFactoryPostProcessor {

	private static final Logger logger = LoggerFactory.getLogger(LockPropertiesCheck.class);

	private static final Set<String> NEVER_ZERO = Set.of("lease-time", "max-hold-time", "session-timeout",
			"connection-timeout", "held", "waited");

	/** Where the connections are configured for which properties are looked for here. */
	private static final Map<String, String> CONNECTIONS = Map.of("holdfast.redis.", "spring.data.redis.",
			"holdfast.redisson.", "spring.redis.redisson.", "holdfast.jdbc.", "spring.datasource.",
			"holdfast.datasource.", "spring.datasource.");

	private final ConfigurableEnvironment environment;

	LockPropertiesCheck(ConfigurableEnvironment environment) {
		this.environment = environment;
	}

	/**
	 * The classes of all properties. The last one has the prefix of the others.
	 */
	static List<Class<?>> types(@Nullable ClassLoader classLoader) {
		List<Class<?>> types = new ArrayList<>(
				List.of(LockProperties.Handover.class, LockProperties.WarnAfter.class, LockProperties.Jpa.class,
						LockProperties.Redis.class, LockProperties.Etcd.class, LockProperties.ZooKeeper.class));
		if (hasTables(classLoader)) {
			types.addAll(List.of(LockProperties.Jdbc.class, LockProperties.Fence.class, LockProperties.Database.class));
		}
		types.add(LockProperties.class);
		return types;
	}

	private static boolean hasTables(@Nullable ClassLoader classLoader) {
		return ClassUtils.isPresent("org.springframework.boot.jdbc.init.DatabaseInitializationProperties", classLoader);
	}

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
		ClassLoader classLoader = beanFactory.getBeanClassLoader();
		Set<ConfigurationProperty> unknown = Set.of();
		Binder binder = Binder.get(this.environment);
		Names names = new Names();
		BindHandler handler = new NoUnboundElementsBindHandler(names,
				(source) -> !(source.getUnderlyingSource() instanceof SystemEnvironmentPropertySource));
		List<String> untyped = hasTables(classLoader) ? List.of() : List.of("holdfast.jdbc", "holdfast.fence");
		untyped.forEach((prefix) -> binder.bind(prefix, Bindable.mapOf(String.class, Object.class), handler));
		for (Class<?> type : types(classLoader)) {
			unknown = unknown(binder, type, handler);
			names.forget(prefix(type));
		}
		refuse(unknown);
		names.refuseTimes();
		warnOfVariables(names);
	}

	/**
	 * What is below the prefix of a class and has been bound by none so far.
	 */
	private static Set<ConfigurationProperty> unknown(Binder binder, Class<?> type, BindHandler handler) {
		try {
			binder.bind(prefix(type),
					Bindable.of(type).withBindRestrictions(Bindable.BindRestriction.NO_DIRECT_PROPERTY), handler);
			return Set.of();
		}
		catch (BindException ex) {
			if (ex.getCause() instanceof UnboundConfigurationPropertiesException unbound) {
				return unbound.getUnboundProperties();
			}
			throw ex;
		}
	}

	private static String prefix(Class<?> type) {
		return type.getAnnotation(ConfigurationProperties.class).value();
	}

	private static void refuse(Collection<ConfigurationProperty> properties) {
		String unknown = properties.stream()
			.filter((property) -> StringUtils.hasText(String.valueOf(property.getValue())))
			.map((property) -> "The property '" + property.getName() + "' is unknown (" + property.getOrigin() + ").")
			.collect(Collectors.joining(" "));
		if (!unknown.isEmpty()) {
			throw new LockConfigurationException(unknown,
					"Correct the name or remove the property: it would have no effect." + connection(properties)
							+ (unknown.contains("'holdfast.locks") ? " " + LockOverridesCheck.DOTS : ""));
		}
	}

	private static String connection(Collection<ConfigurationProperty> properties) {
		for (ConfigurationProperty property : properties) {
			String name = property.getName().toString();
			for (Map.Entry<String, String> connection : CONNECTIONS.entrySet()) {
				if (name.startsWith(connection.getKey())) {
					return " If it is for the store, the connection is '" + connection.getValue()
							+ name.substring(connection.getKey().length()) + "'.";
				}
			}
		}
		return "";
	}

	private void warnOfVariables(Names known) {
		Set<String> others = new TreeSet<>();
		for (PropertySource<?> source : this.environment.getPropertySources()) {
			if (source instanceof SystemEnvironmentPropertySource variables) {
				Stream.of(variables.getPropertyNames())
					.filter((name) -> name.startsWith("HOLDFAST_") && !known.contain(name))
					.forEach(others::add);
			}
		}
		if (!others.isEmpty()) {
			logger.warn("Environment variables that set no property of Holdfast: {}", others);
		}
	}

	/**
	 * Notes the names of properties and looks at their times.
	 */
	private static final class Names extends AbstractBindHandler {

		private final Set<String> known = new HashSet<>();

		private final List<LockConfigurationException> unusable = new ArrayList<>();

		Names() {
			super(new LockGroups());
		}

		/**
		 * Whether an environment variable sets one of them.
		 */
		boolean contain(String variable) {
			return this.known.contains(uniform(variable.replaceFirst("(_\\d+)+_?$", "")));
		}

		/**
		 * Note that there are only properties below a name.
		 */
		void forget(String name) {
			this.known.remove(uniform(name));
		}

		void refuseTimes() {
			if (!this.unusable.isEmpty()) {
				throw this.unusable.get(0);
			}
		}

		@Override
		public <T> @Nullable Bindable<T> onStart(ConfigurationPropertyName name, Bindable<T> target,
				BindContext context) {
			this.known.add(uniform(name.toString()));
			return super.onStart(name, target, context);
		}

		/**
		 * What is passed over sets no property.
		 */
		@Override
		public @Nullable Object onFailure(ConfigurationPropertyName name, Bindable<?> target, BindContext context,
				Exception error) throws Exception {
			Object result = super.onFailure(name, target, context, error);
			forget(name.toString());
			return result;
		}

		@Override
		public @Nullable Object onSuccess(ConfigurationPropertyName name, Bindable<?> target, BindContext context,
				Object result) {
			ConfigurationProperty property = context.getConfigurationProperty();
			if (result instanceof Duration time && property != null) {
				String text = String.valueOf(property.getValue()).strip();
				String mistake = mistake(name.getLastElement(Form.DASHED), text, time);
				if (mistake != null) {
					this.unusable.add(new LockConfigurationException(
							"'" + name + "' is '" + text + "' (" + property.getOrigin() + "), but " + mistake + ".",
							"Set it to a time with a unit such as '5s', or remove it for its default."));
				}
			}
			return super.onSuccess(name, target, context, result);
		}

		private static @Nullable String mistake(String name, String text, Duration time) {
			if (time.isNegative()) {
				return "a time cannot be negative";
			}
			if (time.isZero() && NEVER_ZERO.contains(name)) {
				return "must be more than zero";
			}
			// More likely to count seconds
			return text.matches("0*[1-9]\\d?") ? "a number without a unit counts milliseconds" : null;
		}

		private static String uniform(String name) {
			return name.replaceAll("[^A-Za-z0-9]", "").toUpperCase(Locale.ROOT);
		}

	}

}
