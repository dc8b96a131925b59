package io.github.holdfast.autoconfigure;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeanUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.boot.convert.ApplicationConversionService;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;

import io.github.holdfast.fence.Fence;
import io.github.holdfast.support.LockConfigurationException;

/**
 * A backend beside the default one. It is made like that one, by the same configuration
 * classes and with the same checks, but in a context of its own: below
 * {@code holdfast.backends.<id>} there are its properties, and it uses the connections of
 * the application. That context tells the application of no event.
 */
final class NamedBackend implements AutoCloseable {

	private static final String PREFIX = "holdfast.backends.";

	/** Of which the text of a failure tells that belongs to the default backend. */
	private static final Pattern PROPERTIES = Pattern.compile("'holdfast\\.(etcd|handover|jdbc|redis|zookeeper)\\b");

	private final Declaration declaration;

	private final AnnotationConfigApplicationContext context;

	private NamedBackend(Declaration declaration, AnnotationConfigApplicationContext context) {
		this.declaration = declaration;
		this.context = context;
	}

	/**
	 * Create the context of a backend and let it check its store.
	 * @param declaration what is configured
	 * @param application the application
	 * @param environment its properties
	 * @throws LockConfigurationException if the store cannot keep locks
	 */
	static NamedBackend open(Declaration declaration, ConfigurableListableBeanFactory application,
			ConfigurableEnvironment environment) {
		DefaultListableBeanFactory beanFactory = new DefaultListableBeanFactory(application);
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext(beanFactory);
		context.setDisplayName("Lock backend '" + declaration.id + "'");
		context.setClassLoader(application.getBeanClassLoader());
		context.setEnvironment(environment(declaration, environment));
		checkMode(declaration, context.getEnvironment());
		beanFactory.setConversionService(ApplicationConversionService.getSharedInstance());
		registerProperties(context);
		if (declaration.connection != null) {
			NamedConnection.register(declaration.id, application, declaration.connection, beanFactory);
		}
		context.register(OwnConfiguration.class);
		try {
			context.refresh();
		}
		catch (RuntimeException ex) {
			throw of(declaration.id, ex);
		}
		return new NamedBackend(declaration, context);
	}

	/**
	 * The pools of the application are not made for the sessions of a named backend.
	 */
	private static void checkMode(Declaration declaration, Environment environment) {
		JdbcLockMode mode = Binder.get(environment)
			.bind("holdfast.jdbc.mode", JdbcLockMode.class)
			.orElse(JdbcLockMode.TABLE);
		if (declaration.type == LockBackendType.JDBC && mode != JdbcLockMode.TABLE) {
			throw new LockConfigurationException(
					"'" + PREFIX + declaration.id
							+ ".jdbc.mode' is 'session', which only the default backend can have.",
					"Set it to 'table', or make this backend the default one by 'holdfast.backend'.");
		}
	}

	private static ConfigurableEnvironment environment(Declaration declaration, ConfigurableEnvironment application) {
		Map<String, Object> own = new LinkedHashMap<>(properties(application, declaration.id));
		own.put("holdfast.backend", declaration.type.propertyValue());
		StandardEnvironment environment = new StandardEnvironment();
		environment.getPropertySources().forEach((source) -> environment.getPropertySources().remove(source.getName()));
		environment.getPropertySources().addLast(new MapPropertySource(PREFIX + declaration.id, own));
		for (PropertySource<?> source : application.getPropertySources()) {
			if (!ConfigurationPropertySources.isAttachedConfigurationPropertySource(source)) {
				environment.getPropertySources().addLast(source);
			}
		}
		ConfigurationPropertySources.attach(environment);
		return environment;
	}

	/**
	 * The properties below the name of a backend, as they would be named for the default
	 * one.
	 */
	private static Map<String, Object> properties(ConfigurableEnvironment environment, String id) {
		ConfigurationPropertyName prefix = ConfigurationPropertyName.of(PREFIX + id);
		Map<String, Object> properties = new LinkedHashMap<>();
		ConfigurationPropertySources.get(environment).forEach((source) -> {
			if (source instanceof IterableConfigurationPropertySource iterable) {
				for (ConfigurationPropertyName name : iterable) {
					ConfigurationProperty property = prefix.isAncestorOf(name) ? source.getConfigurationProperty(name)
							: null;
					if (property != null) {
						properties.putIfAbsent("holdfast." + name.subName(prefix.getNumberOfElements()),
								property.getValue());
					}
				}
			}
		});
		return properties;
	}

	/**
	 * Spring Boot registers no properties that a parent has registered. These hide those.
	 */
	private static void registerProperties(AnnotationConfigApplicationContext context) {
		Binder binder = Binder.get(context.getEnvironment());
		registerProperties(context, binder, LockProperties.class);
		for (Class<?> nested : LockProperties.class.getDeclaredClasses()) {
			if (nested.isAnnotationPresent(ConfigurationProperties.class)) {
				registerProperties(context, binder, nested);
			}
		}
	}

	private static <T> void registerProperties(AnnotationConfigApplicationContext context, Binder binder,
			Class<T> type) {
		String prefix = type.getAnnotation(ConfigurationProperties.class).value();
		Bindable<T> target = type.isRecord() ? Bindable.of(type)
				: Bindable.ofInstance(BeanUtils.instantiateClass(type));
		context.getBeanFactory().registerSingleton(prefix + "-" + type.getName(), binder.bindOrCreate(prefix, target));
	}

	private static RuntimeException of(String id, RuntimeException ex) {
		for (Throwable cause = ex; cause != null; cause = cause.getCause()) {
			if (cause instanceof LockConfigurationException failure) {
				return new LockConfigurationException("The backend '" + id + "' of 'holdfast.backends' cannot be used. "
						+ own(id, failure.description()), own(id, failure.action()), ex);
			}
		}
		return ex;
	}

	private static String own(String id, String text) {
		return PROPERTIES.matcher(text)
			.replaceAll((match) -> Matcher.quoteReplacement("'" + PREFIX + id + "." + match.group(1)));
	}

	Declaration declaration() {
		return this.declaration;
	}

	LockBackendCandidate candidate() {
		return LockBackendCandidate.onlyOne(List.copyOf(ownBeans(LockBackendCandidate.class)), this.declaration.type);
	}

	LockProperties.Handover handover() {
		return this.context.getBean(LockProperties.Handover.class);
	}

	/**
	 * The fence that is in the store itself, if that is the business database.
	 */
	@Nullable Fence fence() {
		return this.declaration.isInBusinessDatabase() ? ownBeans(Fence.class).iterator().next() : null;
	}

	private <T> Collection<T> ownBeans(Class<T> type) {
		return this.context.getBeansOfType(type).values();
	}

	void start() {
		this.context.start();
	}

	void stop() {
		this.context.stop();
	}

	@Override
	public void close() {
		this.context.close();
	}

	/**
	 * What is configured for a backend.
	 *
	 * @param id its name
	 * @param type its store
	 * @param connection the name of the bean that connects to the store, or {@code null}
	 * for the only one
	 * @param source its name in the fence table
	 */
	record Declaration(String id, LockBackendType type, @Nullable String connection, String source) {

		/**
		 * Whether the table of its locks is also where commits are checked.
		 */
		boolean isInBusinessDatabase() {
			return this.type == LockBackendType.JDBC && this.connection == null;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableConfigurationProperties({ LockProperties.class, LockProperties.Handover.class })
	@Import(LockStores.class)
	static class OwnConfiguration {

	}

}
