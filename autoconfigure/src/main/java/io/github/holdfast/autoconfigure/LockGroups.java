package io.github.holdfast.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.AbstractBindHandler;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.core.convert.ConverterNotFoundException;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.util.StringUtils;

/**
 * Passes over values where there are only properties below a name: a group without
 * properties in a file, and an environment variable of somebody else, such as
 * {@code HOLDFAST_LOCKS_PORT} of a service of Kubernetes.
 */
final class LockGroups extends AbstractBindHandler {

	private static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("holdfast");

	LockGroups() {
	}

	LockGroups(BindHandler parent) {
		super(parent);
	}

	@Override
	public @Nullable Object onFailure(ConfigurationPropertyName name, Bindable<?> target, BindContext context,
			Exception error) throws Exception {
		if (error instanceof ConverterNotFoundException && PREFIX.isAncestorOf(name) && isPassedOver(name, context)) {
			return null;
		}
		return super.onFailure(name, target, context, error);
	}

	private static boolean isPassedOver(ConfigurationPropertyName name, BindContext context) {
		for (ConfigurationPropertySource source : context.getSources()) {
			ConfigurationProperty property = source.getConfigurationProperty(name);
			if (property != null) {
				return source.getUnderlyingSource() instanceof SystemEnvironmentPropertySource
						|| !StringUtils.hasText(String.valueOf(property.getValue()));
			}
		}
		return false;
	}

}
