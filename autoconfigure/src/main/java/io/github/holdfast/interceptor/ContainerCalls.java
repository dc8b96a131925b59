package io.github.holdfast.interceptor;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;

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
 * the bean is made there is no proxy yet, and at the end it is passed by. In a cycle of
 * references, what calls the methods later has got the bean, too.
 */
final class ContainerCalls {

	private static final Map<String, String> ANNOTATIONS = Map.of("jakarta.annotation.PostConstruct", "@PostConstruct",
			"jakarta.annotation.PreDestroy", "@PreDestroy", "org.springframework.beans.factory.annotation.Autowired",
			"@Autowired", "jakarta.inject.Inject", "@Inject", "jakarta.annotation.Resource", "@Resource");

	/** Their methods are called on what a post-processor has got. */
	private static final Set<String> OF_POST_PROCESSORS = Set.of("org.springframework.scheduling.annotation.Scheduled",
			"org.springframework.jms.annotation.JmsListener", "org.springframework.kafka.annotation.KafkaListener",
			"org.springframework.kafka.annotation.KafkaHandler",
			"org.springframework.amqp.rabbit.annotation.RabbitListener",
			"org.springframework.amqp.rabbit.annotation.RabbitHandler",
			"org.springframework.pulsar.annotation.PulsarListener",
			"org.springframework.pulsar.annotation.PulsarReader",
			"org.springframework.integration.annotation.ServiceActivator",
			"org.springframework.integration.annotation.InboundChannelAdapter",
			"org.springframework.integration.annotation.Aggregator",
			"org.springframework.integration.annotation.Filter", "org.springframework.integration.annotation.Router",
			"org.springframework.integration.annotation.Splitter",
			"org.springframework.integration.annotation.Transformer", "io.awspring.cloud.sqs.annotation.SqsListener");

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
		MergedAnnotations annotations = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY);
		for (Map.Entry<String, String> annotation : ANNOTATIONS.entrySet()) {
			if (annotations.isPresent(annotation.getKey())) {
				return annotation.getValue();
			}
		}
		return (method.getParameterCount() == 0) ? callback(method.getName(), targetClass, definition) : null;
	}

	/**
	 * Why Spring calls a method of a bean in a cycle of references by itself.
	 * @param method the method
	 * @return a name for it, or {@code null} if it does not
	 */
	static @Nullable String reasonInCycle(Method method) {
		MergedAnnotations annotations = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY);
		return OF_POST_PROCESSORS.stream()
			.filter(annotations::isPresent)
			.map((annotation) -> "@" + ClassUtils.getShortName(annotation))
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
