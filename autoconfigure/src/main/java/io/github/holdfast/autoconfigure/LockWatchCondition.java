package io.github.holdfast.autoconfigure;

import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;

/**
 * Matches if a time is set that is warned of.
 */
class LockWatchCondition extends AnyNestedCondition {

	LockWatchCondition() {
		super(ConfigurationPhase.REGISTER_BEAN);
	}

	@ConditionalOnProperty("holdfast.warn-after.waited")
	static class Waited {

	}

	@ConditionalOnProperty("holdfast.warn-after.held")
	static class Held {

	}

}
