package io.github.holdfast.autoconfigure;

import java.sql.Connection;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;
import org.springframework.boot.context.properties.bind.BindableRuntimeHintsRegistrar;
import org.springframework.util.ClassUtils;

/**
 * What a native image has to contain, and no bean definition tells: scripts of tables,
 * and what the library finds by reflection.
 */
class LockRuntimeHints implements RuntimeHintsRegistrar {

	private static final String TRANSACTION = "org.springframework.jdbc.datasource.DataSourceTransactionManager$DataSourceTransactionObject";

	private static final String RESPONSE = "org.springframework.http.ResponseEntity";

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		BindableRuntimeHintsRegistrar.forTypes(LockPropertiesCheck.types(classLoader).toArray(Class<?>[]::new))
			.registerHints(hints);
		hints.resources().registerPattern("io/github/holdfast/jdbc/*.sql");
		if (ClassUtils.isPresent(TRANSACTION, classLoader)) {
			hints.reflection()
				.registerType(TypeReference.of(TRANSACTION), MemberCategory.INVOKE_DECLARED_METHODS)
				.registerType(Connection.class, MemberCategory.INVOKE_PUBLIC_METHODS);
		}
		hints.reflection().registerTypeIfPresent(classLoader, RESPONSE, MemberCategory.INVOKE_PUBLIC_METHODS);
	}

}
