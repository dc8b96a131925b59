package io.github.holdfast.autoconfigure;

import java.util.Set;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;

import io.github.holdfast.LockTemplate;
import io.github.holdfast.check.LockNames;
import io.github.holdfast.core.LockConfigurationException;

/**
 * Refuses overrides without effect: those that match no lock when all singletons are
 * there.
 */
class LockOverridesCheck implements SmartInitializingSingleton {

	private static final Logger logger = LoggerFactory.getLogger(LockOverridesCheck.class);

	static final String DOTS = "The name of a lock that has a dot is written in brackets, as in "
			+ "'holdfast.locks[StockService.deduct].wait-time'.";

	private final LockOverrides overrides;

	private final ObjectProvider<LockTemplate> template;

	private final ObjectProvider<LockNames> annotated;

	LockOverridesCheck(LockOverrides overrides, ObjectProvider<LockTemplate> template,
			ObjectProvider<LockNames> annotated) {
		this.overrides = overrides;
		this.template = template;
		this.annotated = annotated;
	}

	@Override
	public void afterSingletonsInstantiated() {
		boolean configured = !this.overrides.all().isEmpty();
		if (configured) {
			this.template.getIfUnique();
		}
		Set<String> names = this.overrides.endStart();
		if (configured) {
			refuseOtherTemplate(names);
			this.annotated.ifAvailable((annotated) -> names.addAll(annotated.find()));
			this.overrides.all().keySet().forEach((name) -> refuseUnmatched(name, names));
			warnOfDisabled();
		}
	}

	/**
	 * The template of this library asks for overrides when it is created.
	 */
	private static void refuseOtherTemplate(Set<String> asked) {
		if (asked.isEmpty()) {
			throw new LockConfigurationException(
					"'holdfast.locks' has no effect, as the application has a LockTemplate bean of its own.",
					"Remove 'holdfast.locks' and call withOverrides(...) on that template, or remove that bean.");
		}
	}

	private static void refuseUnmatched(String lock, Set<String> names) {
		if (!names.contains(lock)) {
			throw new LockConfigurationException(
					"The overrides 'holdfast.locks[" + lock + "]' match no lock. The locks are named " + names + ".",
					"Correct the name or remove the overrides. Code that uses a LockTemplate must call withName(...) "
							+ "before all singletons are there, for instance in the constructor of a bean. " + DOTS);
		}
	}

	private void warnOfDisabled() {
		this.overrides.all().forEach((name, overrides) -> {
			if (!overrides.enabled()) {
				logger.warn("Lock '{}' is switched off by 'holdfast.locks': its methods run without a lock", name);
			}
		});
	}

}
