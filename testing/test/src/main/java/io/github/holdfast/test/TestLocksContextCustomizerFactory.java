package io.github.holdfast.test;

import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.MergedContextConfiguration;
import org.springframework.test.context.TestContextAnnotationUtils;

/**
 * Sets the properties that {@link AutoConfigureTestLocks} promises: the locks are on, and
 * their level is one that needs no store.
 */
final class TestLocksContextCustomizerFactory implements ContextCustomizerFactory {

	@Override
	public @Nullable ContextCustomizer createContextCustomizer(Class<?> testClass,
			List<ContextConfigurationAttributes> configAttributes) {
		return TestContextAnnotationUtils.hasAnnotation(testClass, AutoConfigureTestLocks.class)
				? new PropertiesCustomizer() : null;
	}

	/**
	 * Equal to all others, so that tests share their contexts.
	 */
	private record PropertiesCustomizer() implements ContextCustomizer {

		@Override
		public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration mergedConfig) {
			context.getEnvironment()
				.getPropertySources()
				.addFirst(new MapPropertySource("testLocks",
						Map.of("holdfast.enabled", "true", "holdfast.commit-guard", "lease")));
		}

	}

}
