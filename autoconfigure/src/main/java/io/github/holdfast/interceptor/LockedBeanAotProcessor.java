package io.github.holdfast.interceptor;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Set;

import io.github.holdfast.DistributedLock;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.generate.GenerationContext;
import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.aot.BeanRegistrationCode;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Registers for native images what a call of a locked method reaches by reflection: the
 * method, its fallback, and the types of its parameters, which the key expression reads.
 */
final class LockedBeanAotProcessor implements BeanRegistrationAotProcessor {

	@Override
	public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean registeredBean) {
		Class<?> beanClass = ClassUtils.getUserClass(registeredBean.getBeanClass());
		Set<Method> locked = MethodIntrospector.selectMethods(beanClass,
				(ReflectionUtils.MethodFilter) (method) -> LockAnnotations.isPresent(method, beanClass));
		return locked.isEmpty() ? null : new Contribution(beanClass, locked);
	}

	private record Contribution(Class<?> beanClass, Set<Method> locked) implements BeanRegistrationAotContribution {

		private static final BindingReflectionHintsRegistrar bindings = new BindingReflectionHintsRegistrar();

		@Override
		public void applyTo(GenerationContext generationContext, BeanRegistrationCode beanRegistrationCode) {
			RuntimeHints hints = generationContext.getRuntimeHints();
			this.locked.forEach((method) -> register(method, hints.reflection()));
			for (Class<?> type : ClassUtils.getAllInterfacesForClass(this.beanClass)) {
				hints.reflection().registerType(type, MemberCategory.INVOKE_DECLARED_METHODS);
			}
		}

		private void register(Method method, ReflectionHints hints) {
			hints.registerMethod(method, ExecutableMode.INVOKE);
			for (Class<?> type : method.getParameterTypes()) {
				if (!type.isPrimitive()) {
					hints.registerType(type, MemberCategory.INVOKE_PUBLIC_METHODS, MemberCategory.ACCESS_PUBLIC_FIELDS);
				}
			}
			bindings.registerReflectionHints(hints, method.getGenericParameterTypes());
			MergedAnnotation<DistributedLock> annotation = LockAnnotations.find(method, this.beanClass);
			String fallback = annotation.getString("fallbackMethod");
			Arrays.stream(ReflectionUtils.getUniqueDeclaredMethods(this.beanClass))
				.filter((candidate) -> candidate.getName().equals(fallback))
				.forEach((candidate) -> hints.registerMethod(candidate, ExecutableMode.INVOKE));
		}

	}

}
