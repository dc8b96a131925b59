package io.github.holdfast.chaos;

import java.util.Locale;

/** Constants as people write them. */
final class Names {

	private Names() {
	}

	static <E extends Enum<E>> E parse(Class<E> type, String name) {
		return Enum.valueOf(type, name.toUpperCase(Locale.ROOT).replace('-', '_'));
	}

	static String print(Enum<?> constant) {
		return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

}
