package io.github.holdfast.autoconfigure;

import java.util.Locale;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.core.type.ClassMetadata;

/**
 * Matches a store's configuration when its store is asked for, or when none is; a store
 * that is not shared between nodes only when it is asked for.
 */
class LockBackendCondition extends SpringBootCondition {

	private static final String PROPERTY = "holdfast.backend";

	@Override
	public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
		String className = ((ClassMetadata) metadata).getClassName();
		String simpleName = className.substring(className.lastIndexOf('.') + 1);
		LockBackendType type = LockBackendType
			.valueOf(simpleName.replace("LockConfiguration", "").toUpperCase(Locale.ROOT));
		ConditionMessage.Builder message = ConditionMessage.forCondition("Lock backend", type.propertyValue());
		LockBackendType wanted = Binder.get(context.getEnvironment())
			.bind(PROPERTY, LockBackendType.class)
			.orElse(null);
		if (wanted == null) {
			return new ConditionOutcome(type != LockBackendType.LOCAL, message.because("no backend is asked for"));
		}
		return new ConditionOutcome(wanted == type, message.because(wanted.propertyValue() + " is asked for"));
	}

}
