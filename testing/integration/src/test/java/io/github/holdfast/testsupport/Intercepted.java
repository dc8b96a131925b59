package io.github.holdfast.testsupport;

import org.aopalliance.intercept.MethodInterceptor;

import org.springframework.aop.framework.ProxyFactory;

/** Objects behind a proxy that notes, changes or breaks what they are asked. */
public final class Intercepted {

	private Intercepted() {
	}

	@SuppressWarnings("unchecked")
	public static <T> T of(T target, MethodInterceptor interceptor) {
		ProxyFactory proxy = new ProxyFactory(target);
		proxy.addAdvice(interceptor);
		return (T) proxy.getProxy(Intercepted.class.getClassLoader());
	}

}
