package io.github.holdfast.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/**
 * {@link RuntimeHintsRegistrar Hints} for native images: the scripts of the table, and
 * the reflection of the library.
 */
class LockRuntimeHints implements RuntimeHintsRegistrar {

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		hints.resources().registerPattern("io/github/holdfast/jdbc/*.sql");
		hints.reflection()
			.registerTypeIfPresent(classLoader, "org.hibernate.Session")
			.registerTypeIfPresent(classLoader, "org.springframework.orm.jpa.JpaTransactionManager",
					MemberCategory.INVOKE_PUBLIC_METHODS);
	}

}
