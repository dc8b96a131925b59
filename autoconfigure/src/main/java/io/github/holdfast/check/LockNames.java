package io.github.holdfast.check;

import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

import io.github.holdfast.interceptor.LockOperationSource;

/**
 * Finds the names of the annotated methods of an application, also those of beans that
 * are created later. Of such a bean only the type is known that its definition tells.
 *
 * @since 0.2.0
 */
public final class LockNames {

	private final LockOperationSource source;

	private final ConfigurableListableBeanFactory beanFactory;

	/**
	 * Create a finder.
	 * @param source knows the annotated methods
	 * @param beanFactory knows the beans
	 */
	public LockNames(LockOperationSource source, ConfigurableListableBeanFactory beanFactory) {
		this.source = source;
		this.beanFactory = beanFactory;
	}

	/**
	 * Looks at all bean definitions and singletons. Creates no bean.
	 * @return the names, sorted
	 */
	public Set<String> find() {
		Set<String> names = new TreeSet<>();
		for (String bean : beans(this.beanFactory)) {
			names.addAll(find(bean));
		}
		return names;
	}

	/**
	 * The names of the locks of one bean.
	 */
	Collection<String> find(String bean) {
		Class<?> type = type(bean);
		return (type != null && !type.getName().startsWith("org.springframework.")) ? this.source.names(type)
				: Set.of();
	}

	/**
	 * The names of all beans of a factory, without those of its parents.
	 */
	static Set<String> beans(ConfigurableListableBeanFactory beanFactory) {
		Set<String> beans = new LinkedHashSet<>(List.of(beanFactory.getBeanDefinitionNames()));
		beans.addAll(List.of(beanFactory.getSingletonNames()));
		return beans;
	}

	private @Nullable Class<?> type(String name) {
		Object bean = this.beanFactory.containsSingleton(name) ? this.beanFactory.getSingleton(name) : null;
		return (bean == null || bean instanceof FactoryBean) ? this.beanFactory.getType(name, false)
				: AopProxyUtils.ultimateTargetClass(bean);
	}

}
