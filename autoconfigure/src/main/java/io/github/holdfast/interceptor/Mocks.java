package io.github.holdfast.interceptor;

import java.lang.reflect.Method;

import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Tells the beans that Mockito has made for a test.
 */
public final class Mocks {

	private static final String MOCKITO = "org.mockito.Mockito";

	private Mocks() {
	}

	/**
	 * A mock in a test has no body that needs a lock, but a spy has.
	 */
	public static boolean isMock(Object bean) {
		if (!ClassUtils.isPresent(MOCKITO, null)) {
			return false;
		}
		Method details = ClassUtils.getMethod(ClassUtils.resolveClassName(MOCKITO, null), "mockingDetails",
				Object.class);
		Object mocking = ReflectionUtils.invokeMethod(details, null, bean);
		return mocking != null && is("isMock", mocking, details) && !is("isSpy", mocking, details);
	}

	private static boolean is(String question, Object mocking, Method details) {
		Method method = ClassUtils.getMethod(details.getReturnType(), question);
		return Boolean.TRUE.equals(ReflectionUtils.invokeMethod(method, mocking));
	}

}
