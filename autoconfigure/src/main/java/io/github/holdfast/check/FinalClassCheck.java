package io.github.holdfast.check;

import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.ProxyConfig;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.util.ClassUtils;

import io.github.holdfast.core.LockConfigurationException;
import io.github.holdfast.interceptor.LockOperationSource;
import io.github.holdfast.interceptor.Mocks;

/**
 * Refuses beans of a final class with locked methods, before Spring tries to make a proxy
 * of it and tells by an exception that does not say what to do.
 */
final class FinalClassCheck {

	private FinalClassCheck() {
	}

	static void check(Object bean, String beanName, LockOperationSource source, BeanFactory beanFactory) {
		Class<?> type = bean.getClass();
		if (Modifier.isFinal(type.getModifiers()) && !Proxy.isProxyClass(type) && !type.isHidden()
				&& isProxiedByClass(type, beanFactory) && !Mocks.isMock(bean)) {
			source.getAll(type).stream().findAny().ifPresent((operation) -> {
				throw new LockConfigurationException(
						"@DistributedLock on " + operation.location() + " of bean '" + beanName
								+ "' has no effect: the class is final, so that no proxy can be made of it.",
						"Remove 'final' from the class. In Kotlin, use the compiler plugin kotlin-spring, which opens "
								+ "classes with Spring's annotations. A record cannot be locked.");
			});
		}
	}

	private static boolean isProxiedByClass(Class<?> type, BeanFactory beanFactory) {
		return ClassUtils.getAllInterfacesForClass(type).length == 0
				|| beanFactory.getBean(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME, ProxyConfig.class)
					.isProxyTargetClass();
	}

}
