package io.github.holdfast.schedules;

import java.lang.reflect.Method;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;

/**
 * Runs methods with {@link Schedules} under their schedules, and says how many these
 * were.
 */
final class ScheduleExtension implements InvocationInterceptor, ParameterResolver {

	@Override
	public void interceptTestMethod(Invocation<@Nullable Void> invocation,
			ReflectiveInvocationContext<Method> invocationContext, ExtensionContext extensionContext) throws Throwable {
		invocation.skip();
		Method method = invocationContext.getExecutable();
		Exploration exploration = new Exploration(Map.of(), method.getDeclaringClass().getName(), method.getName());
		AssertionError failure = exploration.run(Exploration.Bounds.of(method.getAnnotation(Schedules.class)));
		System.out.println(exploration);
		if (failure != null) {
			throw failure;
		}
	}

	@Override
	public boolean supportsParameter(ParameterContext parameter, ExtensionContext extension) {
		return parameter.getParameter().getType() == Threads.class;
	}

	@Override
	public @Nullable Object resolveParameter(ParameterContext parameter, ExtensionContext extension) {
		return null;
	}

}
