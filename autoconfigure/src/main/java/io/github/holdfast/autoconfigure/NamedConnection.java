package io.github.holdfast.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;

import io.github.holdfast.support.LockConfigurationException;

/**
 * The bean of the application that connects a backend beside the default one to its
 * store, as the primary one of that backend's context. It is not closed with it.
 */
final class NamedConnection implements FactoryBean<Object> {

	static final String BEAN_NAME = "holdfastNamedConnection";

	private final ConfigurableListableBeanFactory application;

	private final String name;

	private NamedConnection(ConfigurableListableBeanFactory application, String name) {
		this.application = application;
		this.name = name;
	}

	/**
	 * Make a bean of the application the primary one.
	 * @param id the name of the backend
	 * @param application where the bean is
	 * @param name its name
	 * @param backend where to make it the primary one
	 */
	static void register(String id, ConfigurableListableBeanFactory application, String name,
			DefaultListableBeanFactory backend) {
		if (!application.containsBean(name)) {
			throw new LockConfigurationException(
					"'holdfast.backends." + id + ".connection' names the bean '" + name + "', but there is none.",
					"Name a bean that connects to the store, or remove it for the only or primary one.");
		}
		RootBeanDefinition definition = new RootBeanDefinition(NamedConnection.class,
				() -> new NamedConnection(application, name));
		definition.setPrimary(true);
		definition.setSynthetic(true);
		Class<?> type = application.getType(name);
		if (type != null) {
			definition.setAttribute(OBJECT_TYPE_ATTRIBUTE, type);
		}
		backend.registerBeanDefinition(BEAN_NAME, definition);
	}

	@Override
	public Object getObject() {
		return this.application.getBean(this.name);
	}

	@Override
	public @Nullable Class<?> getObjectType() {
		return this.application.getType(this.name);
	}

}
