package io.github.holdfast.check;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;

/**
 * The methods of a bean that Spring calls on the bean itself and not on its proxy: while
 * the bean is made there is no proxy yet, and at the end it is bypassed. In a cycle of
 * references, what calls the methods later has got the bean, too.
 */
final class ContainerCalls {

	private static final Predicate<String> WHILE_MADE = Pattern
		.compile("jakarta\\.annotation\\.(PostConstruct|PreDestroy|Resource)|jakarta\\.inject\\.Inject"
				+ "|org\\.springframework\\.beans\\.factory\\.annotation\\.Autowired")
		.asMatchPredicate();

	/** Their methods are called on what a post-processor has got. */
	private static final Predicate<String> OF_POST_PROCESSORS = Pattern
		.compile("org\\.springframework\\.(scheduling\\.annotation\\.Scheduled"
				+ "|(jms|kafka|amqp|pulsar|integration)\\..*)|io\\.awspring\\..*")
		.asMatchPredicate();

	/** What is called at the end if nothing is said. */
	private static final Set<String> INFERRED = Set.of("close", "shutdown");

	private ContainerCalls() {
	}

	/**
	 * Why Spring calls a method of a bean by itself.
	 * @param method the method
	 * @param targetClass the class of the bean
	 * @param definition the definition of the bean, if it has one
	 * @return a name for it, or {@code null} if it does not
	 */
	static @Nullable String reason(Method method, Class<?> targetClass, @Nullable BeanDefinition definition) {
		String annotation = annotation(method, WHILE_MADE);
		if (annotation != null) {
			return annotation;
		}
		return (method.getParameterCount() == 0) ? callback(method.getName(), targetClass, definition) : null;
	}

	/**
	 * Why Spring calls a method of a bean in a cycle of references by itself.
	 * @param method the method
	 * @return a name for it, or {@code null} if it does not
	 */
	static @Nullable String reasonInCycle(Method method) {
		return annotation(method, OF_POST_PROCESSORS);
	}

	private static @Nullable String annotation(Method method, Predicate<String> names) {
		return MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY)
			.stream()
			.map((annotation) -> annotation.getType().getName())
			.filter(names)
			.map((name) -> "@" + ClassUtils.getShortName(name))
			.findFirst()
			.orElse(null);
	}

	private static @Nullable String callback(String name, Class<?> targetClass, @Nullable BeanDefinition definition) {
		if (name.equals("afterPropertiesSet") && InitializingBean.class.isAssignableFrom(targetClass)) {
			return "InitializingBean";
		}
		if (name.equals("destroy") && DisposableBean.class.isAssignableFrom(targetClass)) {
			return "DisposableBean";
		}
		if (!(definition instanceof AbstractBeanDefinition bean)) {
			return null;
		}
		if (contains(bean.getInitMethodNames(), name)) {
			return "its init method";
		}
		boolean inferred = INFERRED.contains(name)
				&& (contains(bean.getDestroyMethodNames(), AbstractBeanDefinition.INFER_METHOD)
						|| (bean.getDestroyMethodNames() == null && AutoCloseable.class.isAssignableFrom(targetClass)));
		return (inferred || contains(bean.getDestroyMethodNames(), name)) ? "its destroy method" : null;
	}

	private static boolean contains(String @Nullable [] names, String name) {
		return names != null && Arrays.asList(names).contains(name);
	}

}
