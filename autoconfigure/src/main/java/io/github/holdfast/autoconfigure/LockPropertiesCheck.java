package io.github.holdfast.autoconfigure;

import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;

import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.bind.BindResult;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.Environment;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.util.StringUtils;

import io.github.holdfast.support.LockConfigurationException;

/**
 * Refuses properties without effect and times that nobody can have meant, before any bean
 * is made: a name below {@code holdfast} that is no property, in whatever form it is
 * written, a negative time, a zero where no time at all makes no sense, and a small
 * number without a unit. What is below {@code holdfast.locks} is the business of
 * {@link LockOverridesCheck}, but for the times.
 */
class LockPropertiesCheck implements BeanFactoryPostProcessor {

	private static final Set<String> TIMES = Set.of("holdfast.wait-time", "holdfast.lease-time",
			"holdfast.handover.max-time", "holdfast.jdbc.purge-after", "holdfast.zookeeper.session-timeout",
			"holdfast.zookeeper.connection-timeout", "holdfast.warn-after.held", "holdfast.warn-after.waited");

	private static final Set<String> TIMES_OF_LOCKS = Set.of("wait-time", "lease-time", "max-hold-time",
			"min-hold-time");

	private static final Predicate<String> NEVER_ZERO = Pattern
		.compile("lease-time|session-timeout|connection-timeout|max-hold-time|warn-after")
		.asPredicate();

	private static final String VARIABLE_PREFIX = "HOLDFAST_";

	/** What Kubernetes sets in each container for a service of the name. */
	private static final Predicate<String> OF_KUBERNETES = Pattern
		.compile("_SERVICE_HOST$|_SERVICE_PORT(_.*)?$|_PORT(_\\d+_(TCP|UDP|SCTP)(_(ADDR|PORT|PROTO))?)?$")
		.asPredicate();

	private final Environment environment;

	LockPropertiesCheck(Environment environment) {
		this.environment = environment;
	}

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
		if (this.environment instanceof ConfigurableEnvironment configurable) {
			for (PropertySource<?> source : configurable.getPropertySources()) {
				if (source instanceof EnumerablePropertySource<?> enumerable) {
					checkNames(enumerable);
				}
			}
		}
		checkTimes(Binder.get(this.environment));
	}

	private static void checkNames(EnumerablePropertySource<?> source) {
		boolean variables = source instanceof SystemEnvironmentPropertySource;
		for (String name : source.getPropertyNames()) {
			if (name.startsWith(LockPropertyNames.PREFIX)) {
				checkName(name, source);
			}
			else if (variables && name.startsWith(VARIABLE_PREFIX)) {
				checkVariable(name);
			}
		}
	}

	private static void checkName(String name, EnumerablePropertySource<?> source) {
		boolean empty = LockPropertyNames.isGroup(name)
				&& !StringUtils.hasText(String.valueOf(source.getProperty(name)));
		if (!empty && !LockPropertyNames.isKnown(name)) {
			throw new LockConfigurationException(
					"The property '" + name + "' is unknown (in " + source.getName() + ").",
					"Did you mean '" + LockPropertyNames.nearest(name) + "'? Correct the name or remove the property: "
							+ "it would have no effect.");
		}
	}

	private static void checkVariable(String name) {
		if (!OF_KUBERNETES.test(name) && !LockPropertyNames.isKnownVariable(name)) {
			String nearest = LockPropertyNames.nearestOfVariable(name);
			throw new LockConfigurationException("The environment variable '" + name + "' sets no property.",
					"Did you mean '" + LockPropertyNames.variable(nearest) + "', which sets '" + nearest
							+ "'? Correct or remove it; names that begin with 'HOLDFAST_' are those of Holdfast.");
		}
	}

	private static void checkTimes(Binder binder) {
		TIMES.stream().sorted().forEach((name) -> check(name, binder.bind(name, String.class)));
		checkTimesBelow(LockPropertyNames.LOCKS, TIMES_OF_LOCKS, binder);
		checkTimesBelow(LockPropertyNames.BACKENDS,
				TIMES.stream()
					.filter(LockPropertyNames::isOfEachBackend)
					.map((name) -> name.substring(LockPropertyNames.PREFIX.length()))
					.sorted()
					.toList(),
				binder);
	}

	private static void checkTimesBelow(String group, Collection<String> times, Binder binder) {
		for (String member : binder.bind(group, NamedBackends.NAMES).orElse(Map.of()).keySet()) {
			for (String time : times) {
				ConfigurationPropertyName name = ConfigurationPropertyName.of(group + "[" + member + "]." + time);
				check(name.toString(), binder.bind(name, Bindable.of(String.class)));
			}
		}
	}

	private static void check(String name, BindResult<String> configured) {
		String text = configured.orElse("").strip();
		Duration time;
		try {
			time = text.isEmpty() ? Duration.ofDays(1) : DurationStyle.detectAndParse(text);
		}
		catch (IllegalArgumentException ex) {
			throw new LockConfigurationException("'" + name + "' is '" + text + "', which is no time.",
					"Write a number with a unit, such as '500ms', '2s' or '1m', or 'PT2S'.", ex);
		}
		if (time.isNegative()) {
			throw new LockConfigurationException("'" + name + "' is '" + text + "', but a time cannot be negative.",
					"Set it to a positive time such as '5s', or remove it for its default.");
		}
		if (time.isZero() && NEVER_ZERO.test(name)) {
			throw new LockConfigurationException("'" + name + "' is '" + text + "', but must be more than zero.",
					"Set it to a time such as '30s', or remove it for its default.");
		}
		if (isSmallNumber(text)) {
			throw new LockConfigurationException(
					"'" + name + "' is '" + text + "', which means " + text
							+ " milliseconds: a number without a unit counts those.",
					"Write '" + text + "s', or '" + text + "ms' if that is meant.");
		}
	}

	/**
	 * Whether a text is a number without a unit that is more likely to count seconds.
	 */
	static boolean isSmallNumber(String text) {
		return text.matches("0*[1-9]\\d?");
	}

}
