package io.github.holdfast.autoconfigure;

import java.util.Arrays;
import java.util.stream.Stream;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

import io.github.holdfast.LockTemplate;
import io.github.holdfast.check.LockNames;

/**
 * Makes the checks of the stores if the application uses locks: if a method is annotated,
 * or a bean has got a {@link LockTemplate}. Who has only added the starter needs no table
 * and no server yet. Who asks for a template later finds out by the first call.
 */
class StoreChecks implements SmartInitializingSingleton {

	/** The template that is there in any case. */
	static final String TEMPLATE = "holdfastLockTemplate";

	private static final Logger logger = LoggerFactory.getLogger(StoreChecks.class);

	private final ObjectProvider<StoreCheck> checks;

	private final ObjectProvider<LockNames> annotated;

	private final ConfigurableListableBeanFactory beanFactory;

	StoreChecks(ObjectProvider<StoreCheck> checks, ObjectProvider<LockNames> annotated,
			ConfigurableListableBeanFactory beanFactory) {
		this.checks = checks;
		this.annotated = annotated;
		this.beanFactory = beanFactory;
	}

	@Override
	public void afterSingletonsInstantiated() {
		if (isAnyTemplateUsed() || isAnyMethodLocked()) {
			this.checks.orderedStream().forEach(StoreCheck::check);
		}
		else {
			logger.info("Whether locks can be kept is not checked, as no method is annotated and no bean has a "
					+ "LockTemplate");
		}
	}

	private boolean isAnyTemplateUsed() {
		Stream<String> templates = Arrays.stream(this.beanFactory.getBeanNamesForType(LockTemplate.class, true, false));
		return templates
			.anyMatch((name) -> !name.equals(TEMPLATE) || this.beanFactory.getDependentBeans(name).length > 0);
	}

	private boolean isAnyMethodLocked() {
		return this.annotated.stream().anyMatch((names) -> !names.find().isEmpty());
	}

}
