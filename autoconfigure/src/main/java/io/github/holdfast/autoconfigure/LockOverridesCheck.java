package io.github.holdfast.autoconfigure;

import java.util.Arrays;
import java.util.Set;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.core.env.Environment;

import io.github.holdfast.LockTemplate;
import io.github.holdfast.interceptor.LockNames;
import io.github.holdfast.support.LockConfigurationException;

/**
 * Refuses overrides without effect: those that match no lock when all singletons are
 * there, and unknown properties.
 */
class LockOverridesCheck implements SmartInitializingSingleton {

	private static final Logger logger = LoggerFactory.getLogger(LockOverridesCheck.class);

	private static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("holdfast.locks");

	private final LockOverrides overrides;

	private final ObjectProvider<LockTemplate> template;

	private final ObjectProvider<LockNames> annotated;

	private final Environment environment;

	LockOverridesCheck(LockOverrides overrides, ObjectProvider<LockTemplate> template,
			ObjectProvider<LockNames> annotated, Environment environment) {
		this.overrides = overrides;
		this.template = template;
		this.annotated = annotated;
		this.environment = environment;
	}

	@Override
	public void afterSingletonsInstantiated() {
		Set<ConfigurationProperty> unknown = unknownProperties();
		boolean configured = !this.overrides.all().isEmpty() || !unknown.isEmpty();
		if (configured) {
			this.template.getIfUnique();
		}
		Set<String> names = this.overrides.endStart();
		if (configured) {
			refuseOtherTemplate(names);
			this.annotated.ifAvailable((annotated) -> names.addAll(annotated.find()));
			unknown.forEach((property) -> refuseUnknown(property, names));
			this.overrides.all().keySet().forEach((name) -> refuseUnmatched(name, names));
			warnOfDisabled();
		}
	}

	private Set<ConfigurationProperty> unknownProperties() {
		try {
			Binder.get(this.environment, new NoUnboundElementsBindHandler(BindHandler.DEFAULT))
				.bind(PREFIX, Bindable.mapOf(String.class, LockProperties.Lock.class));
			return Set.of();
		}
		catch (BindException ex) {
			if (ex.getCause() instanceof UnboundConfigurationPropertiesException unbound) {
				return unbound.getUnboundProperties();
			}
			throw ex;
		}
	}

	/**
	 * The template of this library asks for overrides when it is created.
	 */
	private static void refuseOtherTemplate(Set<String> asked) {
		if (asked.isEmpty()) {
			throw new LockConfigurationException(
					"'holdfast.locks' has no effect, as the application has a LockTemplate bean of its own.",
					"Remove 'holdfast.locks' and call withOverrides(...) on that template, or remove that bean.");
		}
	}

	private static void refuseUnknown(ConfigurationProperty property, Set<String> names) {
		String lock = property.getName().getElement(PREFIX.getNumberOfElements(), Form.ORIGINAL);
		throw new LockConfigurationException("The property '" + property.getName() + "' is unknown.",
				"Below the name of a lock there are 'enabled', 'backend', 'wait-time', 'lease-time', 'max-hold-time', "
						+ "'min-hold-time' and 'handover'." + hint(lock, names));
	}

	private static void refuseUnmatched(String lock, Set<String> names) {
		if (!names.contains(lock)) {
			throw new LockConfigurationException(
					"The overrides 'holdfast.locks[" + lock + "]' match no lock. The locks are named " + names + ".",
					"Correct the name or remove the overrides. Code that uses a LockTemplate must call withName(...) "
							+ "before all singletons are there, for instance in the constructor of a bean."
							+ hint(lock, names));
		}
	}

	private static String hint(String part, Set<String> names) {
		return names.stream()
			.filter((name) -> name.contains("."))
			.filter((name) -> Arrays.stream(name.split("\\.")).anyMatch(part::equalsIgnoreCase))
			.findFirst()
			.map((name) -> " The name '" + name + "' has a dot: write 'holdfast.locks[" + name
					+ "]', or give that lock a 'name' without a dot.")
			.orElse("");
	}

	private void warnOfDisabled() {
		this.overrides.all().forEach((name, overrides) -> {
			if (!overrides.enabled()) {
				logger.warn("Lock '{}' is switched off by 'holdfast.locks': its methods run without a lock", name);
			}
		});
	}

}
